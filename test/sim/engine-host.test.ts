import { describe, expect, it } from 'vitest';
import { Engine, HashList, PRESETS, type HostSettings, type Preset, type Sequence, type Work } from '../../sim/index.js';

const BLOCK = 16;
const TINY = { ...PRESETS['tiny-cpu'], kvTokens: 640, maxModelLen: 640, batchTokens: 256 };
/** A block in about a millisecond. */
const RATE = TINY.kvBytesPerToken * BLOCK * 1000;

function engineOf(host: Partial<HostSettings> = {}, changes: Partial<Preset> = {}): Engine {
  const settings = { tokens: 6400, bytesPerSecond: RATE, writes: 'computed', ...host } as const;
  return new Engine({ preset: { ...TINY, ...changes }, blockSize: BLOCK, scheduling: 'fcfs', host: settings });
}

/** A request of a conversation: those of the same number begin alike. */
function work(conversation: number, promptTokens: number, more: Partial<Work> = {}): Work {
  const outputTokens = more.outputTokens ?? 8;
  const count = Math.floor((promptTokens + outputTokens) / BLOCK);
  const blockHashes = new HashList(Array.from({ length: count }, (_, index) => conversation * 1e6 + index));
  return { promptTokens, outputTokens, blockHashes, priority: 0, ...more };
}

let now = 0;
/** Adds requests, and steps until nothing is left to do or `until` holds. */
function run(engine: Engine, works: readonly Work[], until: () => boolean = () => false): Sequence[] {
  const added = works.map((each) => engine.add(each, now) as Sequence);
  while (!until()) {
    if (Number.isNaN(engine.stepEnd) && engine.begin(now) === undefined) break;
    now = engine.stepEnd;
    engine.end();
  }
  return added;
}

/** A conversation, then others that evict it. */
function evicted(engine: Engine): void {
  for (const conversation of [1, 2, 3, 4]) run(engine, [work(conversation, 320)]);
}

describe('a host tier', () => {
  it('brings back what the KV cache has lost, as cached tokens, in the time of its link', () => {
    const [without, engine] = [engineOf({ tokens: BLOCK }), engineOf()];
    for (const each of [without, engine]) evicted(each);
    const [again] = run(without, [work(1, 320)]);
    const start = now;
    const [back] = run(engine, [work(1, 320)]);
    expect(again!.cachedTokens).toBe(0);
    // All but the last block, one token of which has to be computed.
    expect([back!.cachedTokens, back!.hostTokens]).toEqual([304, 304]);
    expect(back!.scheduledAt - start).toBeCloseTo(19, 6);
    expect(engine.host!.totals).toMatchObject({ hitTokens: 304, loadedTokens: 304, queriedTokens: 4 * 320 + 320 });
    expect(engine.totals.hitTokens).toBe(0);
    expect(engine.host!.totals.loadMs).toBeCloseTo(19, 6);
  });
});
