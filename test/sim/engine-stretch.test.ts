import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Engine,
  HashList,
  PRESETS,
  type HostSettings,
  type Preset,
  type Sequence,
  type Work,
} from '../../sim/index.js';

const BLOCK = 4;
const RUNS = Number(process.env['TEST_SEQUENCES'] ?? 60);

interface Request {
  readonly at: number;
  readonly prefix: number;
  readonly prompt: number;
  readonly output: number;
  /** Aborted so long after it came; absent: it may finish. */
  readonly abortAfter?: number | undefined;
}

type Happening = { readonly at: number } & ({ readonly add: number } | { readonly abort: number } | { look: true });

/** Plays requests with stretches of so many steps, and tells all that can be seen of it; checks what holds after each. */
function play(requests: readonly Request[], looks: readonly number[], setting: Setting, stepsMax: number) {
  const preset = { ...PRESETS['tiny-cpu'], ...setting.preset };
  const { host } = setting;
  const engine = new Engine({ preset, blockSize: BLOCK, host });
  const happenings: Happening[] = [
    ...requests.map(({ at }, add) => ({ at, add })),
    ...requests.flatMap(({ at, abortAfter: after }, abort) => (after === undefined ? [] : [{ at: at + after, abort }])),
    ...looks.map((at) => ({ at, look: true as const })),
  ].sort((a, b) => a.at - b.at);
  const sequences = new Map<number, Sequence>();
  const told: string[] = [];
  const views: object[] = [];
  let stretches = 0;
  const begin = (now: number) => {
    if (engine.begin(now, stepsMax) !== undefined) stretches += 1;
  };
  const runUntil = (until: number) => {
    while (engine.stepEnd < until) {
      const end = engine.stepEnd;
      for (const { arrival, state, firstTokenAt } of engine.end())
        if (state === 'finished' || firstTokenAt === end) told.push(`${arrival} ${state}`);
      expectSound(engine, preset.slots, sequences.values());
      begin(end);
    }
  };
  for (const happening of happenings) {
    runUntil(happening.at);
    if ('add' in happening) {
      const sequence = engine.add(workOf(requests[happening.add] as Request), happening.at);
      if (sequence !== undefined) sequences.set(happening.add, sequence);
    } else if ('abort' in happening) {
      const sequence = sequences.get(happening.abort);
      if (sequence !== undefined) engine.abort(sequence, happening.at);
    } else {
      engine.advance(happening.at);
      const generated = [...sequences.values()].map((sequence) => [sequence.generated, sequence.computed]);
      const { running, waiting, kv, totals } = engine;
      const inHost = engine.host?.totals.loadedTokens;
      views.push({ at: happening.at, running, waiting, free: kv.free, totals: { ...totals }, generated, inHost });
    }
    if (Number.isNaN(engine.stepEnd)) begin(happening.at);
    else expect(engine.cut(happening.at)).toBe(engine.stepEnd);
  }
  runUntil(Infinity);
  return { engine, sequences: [...sequences.values()], told, views, stretches };
}

/** No block is lost or booked twice, and no slot is exceeded. */
function expectSound({ kv, running }: Engine, slots: number, all: Iterable<Sequence>): void {
  expect(running).toBeLessThanOrEqual(slots);
  // One that loads, or has loaded, holds its blocks, also when it was aborted meanwhile.
  const needed = [...all].map(({ state, computed, hold }) =>
    state === 'running' ? Math.ceil(computed / BLOCK) : hold.blocks,
  );
  // Between what they need if they share all they can, and what they need if they share nothing.
  expect(kv.size - kv.free).toBeGreaterThanOrEqual(Math.max(0, ...needed));
  expect(kv.size - kv.free).toBeLessThanOrEqual(needed.reduce((sum, blocks) => sum + blocks, 0));
}

/** Every request has ended, with exactly its tokens unless it was aborted, and all blocks are free. */
function expectEnded({ engine, sequences }: ReturnType<typeof play>): void {
  for (const { state, generated, work, cachedTokens } of sequences) {
    expect(['finished', 'aborted']).toContain(state);
    if (state === 'finished') expect(generated).toBe(work.outputTokens);
    expect(cachedTokens).toBeLessThan(work.promptTokens);
  }
  const { kv, running, waiting, totals, host } = engine;
  if (host !== undefined) expect(host.blocks.free).toBe(host.blocks.size);
  expect([running, waiting, kv.free, totals.finished + totals.aborted]).toEqual([0, 0, kv.size, sequences.length]);
}

interface Setting {
  readonly preset: Partial<Preset>;
  readonly host?: HostSettings;
}

function workOf({ prefix, prompt, output }: Request): Work {
  const count = Math.floor((prompt + output) / BLOCK);
  // The first ten blocks of a prefix's requests are alike, what follows is so for half of them.
  const own = prompt % 2 === 0 ? 0 : prompt * 100;
  const blockHashes = Array.from({ length: count }, (_, index) => prefix * 1e6 + index + (index < 10 ? 0 : own));
  const work = { promptTokens: prompt, outputTokens: output, blockHashes: new HashList(blockHashes) };
  return { ...work, failsLoad: prompt % 5 === 0 };
}

/** Plays both ways; all that can be seen must be the same. */
function expectSame(requests: readonly Request[], looks: readonly number[], setting: Setting, stepsMax = Infinity) {
  const single = play(requests, looks, setting, 1);
  const stretched = play(requests, looks, setting, stepsMax);
  expectEnded(single);
  expect(stretched.told).toEqual(single.told);
  expect(stretched.views).toEqual(single.views);
  expect(stretched.engine.totals).toEqual(single.engine.totals);
  for (const key of ['queriedTokens', 'hitTokens', 'loadedTokens', 'storedTokens', 'failedLoads'] as const)
    expect(stretched.engine.host?.totals[key], key).toBe(single.engine.host?.totals[key]);
  expect(stretched.engine.kv.free).toBe(single.engine.kv.free);
  stretched.sequences.forEach((sequence, index) => {
    const other = single.sequences[index] as Sequence;
    for (const key of ['state', 'generated', 'cachedTokens', 'preemptions'] as const)
      expect(sequence[key], key).toBe(other[key]);
    for (const key of ['scheduledAt', 'firstTokenAt', 'endedAt'] as const) {
      if (Number.isNaN(other[key])) expect(sequence[key], key).toBeNaN();
      else expect(Math.abs(sequence[key] - other[key]), key).toBeLessThanOrEqual(1e-9 * other[key]);
    }
  });
  if (setting.host === undefined) expect(single.stretches).toBe(single.engine.totals.steps);
  return stretched;
}

const ROOMY = { slots: 8, batchTokens: 256, kvTokens: 8000, maxModelLen: 4000 };
const TINY = { slots: 4, batchTokens: 24, kvTokens: 100, maxModelLen: 100 };
const request = (at: number, prompt: number, output: number): Request => ({ at, prompt, output, prefix: at });

describe('driving with stretches gives the same as step by step', () => {
  it('for a lone request, in two stretches', () => {
    const { stretches, engine } = expectSame([request(0.5, 100, 200)], [], { preset: ROOMY });
    expect(engine.totals.steps).toBe(200);
    expect(stretches).toBe(2);
  });

  it('when others arrive in the middle of a stretch and there is a slot', () => {
    const requests = [0.5, 333.3, 777.7, 1100.1].map((at) => request(at, 100, 100));
    const { sequences, stretches } = expectSame(requests, [500.1, 1000.1], { preset: ROOMY });
    expect(sequences[1]?.scheduledAt).toBeLessThan(sequences[0]?.endedAt ?? 0);
    expect(stretches).toBeLessThan(20);
  });

  it('when others arrive and all slots are taken: nothing is cut', () => {
    const requests = [0.5, 100.5, 200.5, 300.5].map((at) => request(at, 16, 100));
    const { stretches } = expectSame(requests, [], { preset: { ...ROOMY, slots: 1 } });
    expect(stretches).toBe(8);
  });

  const later = (max: number, fraction: number) => fc.integer({ min: 0, max }).map((ms) => ms + fraction);
  const requests = fc.array(
    fc.record({
      at: later(3000, 0.377),
      prefix: fc.integer({ min: 0, max: 3 }),
      prompt: fc.integer({ min: 1, max: 90 }),
      output: fc.integer({ min: 1, max: 60 }),
      abortAfter: fc.option(later(900, 0.119), { nil: undefined, freq: 3 }),
    }),
    { maxLength: 40 },
  );
  const looks = fc.array(later(5000, 0.771), { maxLength: 5 });
  const underLoad = (check: (script: readonly Request[], times: readonly number[]) => void) =>
    fc.assert(fc.property(requests, looks, check), { numRuns: RUNS, seed: 5 });

  it.each([
    ['a tiny engine', TINY, Infinity],
    ['stretches of three steps', TINY, 3],
    ['a roomy engine', ROOMY, Infinity],
    ['an engine of few blocks and many slots', { ...ROOMY, kvTokens: 240, batchTokens: 64 }, Infinity],
  ] as const)('under random load: %s', (_, preset, stepsMax) => {
    let [hits, aborted, preemptions] = [0, 0, 0];
    underLoad((script, times) => {
      const { totals } = expectSame(script, times, { preset }, stepsMax).engine;
      [hits, aborted, preemptions] = [
        hits + totals.hitTokens,
        aborted + totals.aborted,
        preemptions + totals.preemptions,
      ];
    });
    expect(Math.min(hits, aborted)).toBeGreaterThan(0);
    expect(preemptions > 0).toBe(preset.kvTokens < 1000);
  });

  const KV_BYTES = PRESETS['tiny-cpu'].kvBytesPerToken;
  const hostOf = (tokens: number, tokensPerSecond: number, writes: HostSettings['writes']): HostSettings => ({
    tokens,
    bytesPerSecond: KV_BYTES * tokensPerSecond,
    writes,
  });

  it.each([
    ['and a slow host', TINY, hostOf(400, 300, 'computed')],
    ['and a fast host', TINY, hostOf(4000, 1e6, 'computed')],
    ['and a host smaller than a prompt', TINY, hostOf(40, 3000, 'computed')],
    ['and a host that gets what the GPU gives away', TINY, hostOf(400, 3000, 'evicted')],
    ['and a host and many slots', { ...ROOMY, kvTokens: 240, maxModelLen: 150 }, hostOf(1000, 2000, 'computed')],
  ] as const)('under random load: a tiny engine %s', (_, preset, host) => {
    let [hits, failures] = [0, 0];
    underLoad((script, times) => {
      const { totals } = expectSame(script, times, { preset, host }).engine.host!;
      [hits, failures] = [hits + totals.hitTokens, failures + totals.failedLoads];
    });
    expect(Math.min(hits, failures)).toBeGreaterThan(0);
  });
});
