import { describe, expect, it } from 'vitest';
import { stepMs } from '../../sim/engine/roofline.js';
import { Engine, HashList, PRESETS, type Preset, type Sequence, type Work } from '../../sim/index.js';

const BLOCK = 16;
const TINY = PRESETS['tiny-cpu'];

const engineOf = (changes: Partial<Preset> = {}) =>
  new Engine<Named>({ preset: { ...TINY, ...changes }, blockSize: BLOCK });

interface Named extends Work {
  readonly name: string;
}

/** A request whose blocks are numbered from `prefix` on: requests with the same prefix share blocks. */
function work(name: string, promptTokens: number, outputTokens: number, prefix = name.charCodeAt(0) * 1e6): Named {
  const count = Math.floor((promptTokens + outputTokens) / BLOCK);
  const blockHashes = new HashList(Array.from({ length: count }, (_, index) => prefix + index));
  return { name, promptTokens, outputTokens, blockHashes };
}

/** Steps until `until` holds or nothing is left to do; returns the time. */
function run(engine: Engine<Named>, start = 0, until: () => boolean = () => false): number {
  let now = start;
  while (!until()) {
    if (Number.isNaN(engine.stepEnd) && engine.begin(now) === undefined) break;
    now = engine.stepEnd;
    engine.end();
  }
  return now;
}

function added(engine: Engine<Named>, request: Named, now = 0): Sequence<Named> {
  const sequence = engine.add(request, now);
  if (sequence === undefined) throw new Error('refused');
  return sequence;
}

describe('step times', () => {
  it('of a lone request are the roofline, term by term', () => {
    const preset = PRESETS['llama-3.1-8b-a100'];
    const engine = new Engine<Named>({ preset, blockSize: BLOCK });
    const sequence = added(engine, work('a', 1000, 3));
    run(engine);
    const overhead = preset.stepOverheadMs + preset.sequenceOverheadMs;
    const prefill = (1000 * preset.flopsPerToken + ((1000 * 1001) / 2) * preset.attentionFlops) / preset.flopsPerSecond;
    // One token reads all weights and its context, and both reads outweigh their arithmetic.
    const decode = (context: number) => (preset.weightBytes + context * preset.kvBytesPerToken) / preset.bytesPerSecond;
    expect(sequence.firstTokenAt).toBeCloseTo(prefill * 1000 + overhead, 6);
    expect(sequence.endedAt).toBeCloseTo((prefill + decode(1001) + decode(1002)) * 1000 + 3 * overhead, 6);
  });

  it('of a mixture of experts read more of them the more tokens there are, up to all', () => {
    const preset = PRESETS['qwen3-coder-30b-a3b'];
    const { experts, weightBytes, bytesPerSecond, flopsPerToken, flopsPerSecond } = preset;
    const read = (tokens: number) => {
      const ms = stepMs(preset, { sequences: 0, tokens, attended: 0, context: 0 }) - preset.stepOverheadMs;
      // The reads and the arithmetic of a mixture add up.
      const seconds = ms / 1000 - (tokens * flopsPerToken) / flopsPerSecond;
      return (seconds * bytesPerSecond - weightBytes) / (experts?.bytes ?? NaN);
    };
    expect(read(1)).toBeCloseTo(8 / 128, 9);
    // The second token chooses 8 of which 8/128 are the first's on average.
    expect(read(2)).toBeCloseTo((8 + 7.5) / 128, 9);
    expect(read(200)).toBeGreaterThan(0.99);
  });

  it('of tiny-cpu give about the measured tokens a second at 1, 4, 8 and 16 streams, and the measured prefill', () => {
    for (const [streams, measured] of Object.entries({ 1: 92, 4: 319, 8: 624, 16: 1041 })) {
      const engine = engineOf({ slots: 16 });
      for (let index = 0; index < Number(streams); index += 1)
        added(engine, work(String.fromCharCode(65 + index), 16, 200));
      expect(Math.abs((Number(streams) * 200) / (run(engine) / 1000) / measured - 1), streams).toBeLessThan(0.1);
    }
    const engine = engineOf();
    const sequence = added(engine, work('a', 4096, 1));
    run(engine);
    expect(Math.abs(sequence.firstTokenAt / 1060 - 1)).toBeLessThan(0.1);
  });
});

describe('batching', () => {
  it('keeps decoding while a long prompt is prefilled in chunks', () => {
    const engine = engineOf({ batchTokens: 64 });
    const short = added(engine, work('a', 16, 50));
    run(engine, 0, () => short.generated === 1);
    const long = added(engine, work('b', 630, 5));
    run(engine, 0, () => long.generated === 1);
    // 630 tokens in chunks of 63: one token of each step's 64 is the decode.
    expect(short.generated).toBe(11);
  });

  it('takes from the queue who came first', () => {
    const engine = engineOf({ slots: 1 });
    const sequences = ['a', 'b', 'c'].map((name) => added(engine, work(name, 20, 2)));
    run(engine);
    const ends = sequences.map(({ endedAt }) => endedAt);
    expect(ends).toEqual([...new Set(ends)].sort((a, b) => a - b));
  });
});

describe('prefix cache', () => {
  it('finds the full blocks of an equal prompt, all but its last token', () => {
    const engine = engineOf();
    added(engine, work('a', 64, 4, 1));
    run(engine);
    const again = added(engine, work('b', 64, 4, 1));
    const longer = added(engine, work('c', 100, 4, 1));
    run(engine);
    expect(again.cachedTokens).toBe(48);
    expect(longer.cachedTokens).toBe(64);
    expect(engine.totals.hitTokens).toBe(112);
    expect(engine.totals.queriedTokens).toBe(228);
    expect(engine.totals.computedPromptTokens).toBe(64 + 16 + 36);
  });

  it('finds the answer too when it comes back as history', () => {
    const engine = engineOf();
    added(engine, work('a', 40, 60, 1));
    run(engine);
    const next = added(engine, work('b', 120, 4, 1));
    run(engine);
    // The last token of an answer is sampled and never computed: 99 of 100 tokens are in the cache.
    expect(next.cachedTokens).toBe(96);
  });

  it('keeps the full blocks of an aborted request', () => {
    const engine = engineOf({ batchTokens: 48 });
    const sequence = added(engine, work('a', 200, 4, 1));
    run(engine, 0, () => sequence.computed >= 96);
    expect(engine.abort(sequence, 0)).toBe(true);
    expect(engine.abort(sequence, 0)).toBe(false);
    expect(engine.kv.free).toBe(engine.kv.size);
    const again = added(engine, work('b', 200, 4, 1));
    run(engine);
    expect(again.cachedTokens).toBe(96);
  });
});

describe('preemption', () => {
  it('recomputes the latest arrival when blocks run out, and everyone still gets all tokens', () => {
    const engine = engineOf({ kvTokens: 8 * BLOCK });
    const [a, b] = ['a', 'b'].map((name) => added(engine, work(name, 48, 64)));
    run(engine);
    expect(a).toMatchObject({ state: 'finished', generated: 64, preemptions: 0 });
    expect(b).toMatchObject({ state: 'finished', generated: 64 });
    expect(b?.preemptions).toBeGreaterThan(0);
    expect(engine.totals.preemptions).toBe(b?.preemptions);
    expect(engine.kv.free).toBe(engine.kv.size);
  });
});

describe('limits', () => {
  it('refuses what exceeds the model length or the whole cache, and takes what just fits', () => {
    const engine = engineOf({ maxModelLen: 100, kvTokens: 1600 });
    expect(engine.maxModelLen).toBe(100);
    expect(engine.add(work('a', 98, 3), 0)).toBeUndefined();
    expect(engine.add(work('b', 98, 2), 0)).toBeDefined();
    const small = engineOf({ kvTokens: 100 });
    expect(small.maxModelLen).toBe(96);
    expect(small.add(work('a', 96, 1), 0)).toBeUndefined();
    added(small, work('b', 92, 4));
    run(small);
    expect(small.totals.finished).toBe(1);
  });

  it('refuses an empty prompt or answer', () => {
    expect(() => engineOf().add(work('a', 0, 1), 0)).toThrow(RangeError);
    expect(() => engineOf().add(work('a', 1, 0), 0)).toThrow(RangeError);
  });

  it('holds back a request that does not fit until one has left', () => {
    const engine = engineOf({ kvTokens: 10 * BLOCK });
    const first = added(engine, work('a', 100, 40));
    run(engine, 0, () => first.generated === 1);
    const second = added(engine, work('b', 100, 4));
    run(engine, 0, () => first.generated === 30);
    expect(second.state).toBe('waiting');
    run(engine);
    expect(second.state).toBe('finished');
    expect(engine.totals.preemptions).toBe(0);
  });
});
