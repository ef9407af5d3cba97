import { describe, expect, it } from 'vitest';
import { Engine, HashList, PRESETS, type HostSettings, type Sequence, type Work } from '../../sim/index.js';

const BLOCK = 16;
const TINY = { ...PRESETS['tiny-cpu'], kvTokens: 640, maxModelLen: 640, batchTokens: 256 };
/** A block in about a millisecond. */
const RATE = TINY.kvBytesPerToken * BLOCK * 1000;

function engineOf(host: Partial<HostSettings> = {}): Engine {
  const settings = { tokens: 6400, bytesPerSecond: RATE, writes: 'computed', ...host } as const;
  return new Engine({ preset: TINY, blockSize: BLOCK, host: settings });
}

/** A request of a conversation: those of the same number begin alike. */
function work(conversation: number, promptTokens: number, more: Partial<Work> = {}): Work {
  const outputTokens = more.outputTokens ?? 8;
  const count = Math.floor((promptTokens + outputTokens) / BLOCK);
  const blockHashes = new HashList(Array.from({ length: count }, (_, index) => conversation * 1e6 + index));
  return { promptTokens, outputTokens, blockHashes, ...more };
}

let now = 0;
/** Adds requests, and steps until nothing is left to do. */
function run(engine: Engine, ...works: readonly Work[]): Sequence[] {
  const added = works.map((each) => engine.add(each, now) as Sequence);
  for (;;) {
    if (Number.isNaN(engine.stepEnd) && engine.begin(now) === undefined) return added;
    now = engine.stepEnd;
    engine.end();
  }
}

/** A conversation, then others that evict it. */
function evicted(engine: Engine): void {
  for (const conversation of [1, 2, 3, 4]) run(engine, work(conversation, 320));
}

describe('a host tier', () => {
  it('brings back what the KV cache has lost, as cached tokens, in the time of its link', () => {
    const [without, engine] = [engineOf({ tokens: BLOCK }), engineOf()];
    for (const each of [without, engine]) evicted(each);
    const [again] = run(without, work(1, 320));
    const start = now;
    const [back] = run(engine, work(1, 320));
    expect(again!.cachedTokens).toBe(0);
    // All but the last block, one token of which has to be computed.
    expect([back!.cachedTokens, back!.hostTokens]).toEqual([304, 304]);
    expect(back!.scheduledAt - start).toBeCloseTo(19, 6);
    expect(engine.host!.totals).toMatchObject({ hitTokens: 304, loadedTokens: 304, queriedTokens: 4 * 320 + 320 });
    expect(engine.totals.hitTokens).toBe(0);
    expect(engine.host!.totals.loadMs).toBeCloseTo(19, 6);
  });

  it('moves one load after the other through its link, and other requests run meanwhile', () => {
    const engine = engineOf({ bytesPerSecond: RATE / 100 });
    evicted(engine);
    const start = now;
    const [first, second, other] = run(engine, work(1, 160), work(2, 160), work(9, 160, { outputTokens: 100 }));
    expect(first!.scheduledAt - start).toBeGreaterThanOrEqual(900);
    expect(second!.scheduledAt - start).toBeGreaterThanOrEqual(1800);
    expect(other!.scheduledAt).toBe(start);
    expect(other!.endedAt).toBeLessThan(first!.scheduledAt);
  });

  it('loads what two requests share once', () => {
    const engine = engineOf();
    evicted(engine);
    const [first, second] = run(engine, work(1, 320), work(1, 330));
    expect([first!.cachedTokens, second!.cachedTokens]).toEqual([304, 320]);
    expect(engine.host!.totals.loadedTokens).toBe(304);
  });

  it('loses what was used longest ago', () => {
    const engine = engineOf({ tokens: 960 });
    evicted(engine);
    // Three of the four fit: all but the first one.
    expect([4, 1].map((conversation) => run(engine, work(conversation, 320))[0]!.cachedTokens)).toEqual([304, 0]);
  });

  it('computes what a failed load did not bring, and counts it', () => {
    const engine = engineOf();
    evicted(engine);
    const [failed] = run(engine, work(1, 320, { failsLoad: true }));
    expect([failed!.state, failed!.cachedTokens, failed!.hostTokens]).toEqual(['finished', 0, 0]);
    expect(engine.host!.totals).toMatchObject({ failedLoads: 1, hitTokens: 0 });
    expect(engine.kv.free).toBe(engine.kv.size);
  });

  it('does not load what is still on its way there', () => {
    const slow = engineOf({ bytesPerSecond: RATE / 1000 });
    const start = now;
    for (const conversation of [1, 2, 3]) run(slow, work(conversation, 320));
    const [back] = run(slow, work(1, 320));
    // 20 blocks there, 19 back, a second each.
    expect(back!.scheduledAt - start).toBeGreaterThanOrEqual(39_000);
  });

  it('copies at eviction, if told so, and then also answers', () => {
    const engine = engineOf({ writes: 'evicted' });
    run(engine, work(1, 320, { outputTokens: 100 }));
    expect(engine.host!.totals.storedTokens).toBe(0);
    for (const conversation of [2, 3]) run(engine, work(conversation, 320));
    const { storedTokens } = engine.host!.totals;
    expect(storedTokens).toBeGreaterThanOrEqual(416);
    expect(run(engine, work(1, 420))[0]!.cachedTokens).toBe(416);
  });
});
