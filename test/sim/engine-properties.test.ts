import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Engine, HashList, PRESETS, type EngineScheduling, type Sequence, type Work } from '../../sim/index.js';

const BLOCK = 4;

type Action =
  | {
      readonly type: 'add';
      readonly prefix: number;
      readonly prompt: number;
      readonly output: number;
      readonly priority: number;
    }
  | { readonly type: 'abort'; readonly which: number }
  | { readonly type: 'steps'; readonly count: number };

const actions = fc.array(
  fc.oneof(
    fc.record({
      type: fc.constant('add' as const),
      prefix: fc.integer({ min: 0, max: 3 }),
      prompt: fc.integer({ min: 1, max: 90 }),
      output: fc.integer({ min: 1, max: 40 }),
      priority: fc.integer({ min: -2, max: 2 }),
    }),
    fc.record({ type: fc.constant('abort' as const), which: fc.nat(40) }),
    fc.record({ type: fc.constant('steps' as const), count: fc.integer({ min: 1, max: 12 }) }),
  ),
  { maxLength: 60 },
);

/** Plays actions on an engine so small that blocks, slots and budget all run out; calls `check` after each step. */
function play(
  script: readonly Action[],
  scheduling: EngineScheduling,
  check: (engine: Engine, all: Sequence[]) => void,
) {
  const preset = { ...PRESETS['tiny-cpu'], slots: 4, batchTokens: 24, kvTokens: 100, maxModelLen: 100 };
  const engine = new Engine({ preset, blockSize: BLOCK, scheduling });
  const all: Sequence[] = [];
  let now = 0;
  const step = (): boolean => {
    if (Number.isNaN(engine.stepEnd) && engine.begin(now) === undefined) return false;
    now = engine.stepEnd;
    engine.end();
    check(engine, all);
    return true;
  };
  for (const action of script) {
    if (action.type === 'add') {
      const sequence = engine.add(request(action), now);
      if (sequence !== undefined) all.push(sequence);
    } else if (action.type === 'abort') {
      const sequence = all[action.which % Math.max(1, all.length)];
      if (sequence !== undefined) engine.abort(sequence, now);
      // Half of the aborts come while a step is under way.
      if (action.which % 2 === 0 && Number.isNaN(engine.stepEnd)) engine.begin(now);
    } else for (let count = 0; count < action.count; count += 1) step();
  }
  let left = 20_000;
  while (step() && left > 0) left -= 1;
  return { engine, all, now };
}

function request({ prefix, prompt, output, priority }: Extract<Action, { type: 'add' }>): Work {
  const count = Math.floor((prompt + output) / BLOCK);
  return {
    promptTokens: prompt,
    outputTokens: output,
    priority,
    blockHashes: new HashList(Array.from({ length: count }, (_, index) => prefix * 1000 + index)),
  };
}

describe.each(['fcfs', 'priority'] as const)('an engine under random load, %s', (scheduling) => {
  it('never leaks or double-books a block, and never exceeds its slots', () => {
    fc.assert(
      fc.property(actions, (script) => {
        const { engine } = play(script, scheduling, ({ kv, running }, all) => {
          expect(running).toBeLessThanOrEqual(4);
          const active = all.filter(({ state }) => state === 'running');
          const needed = active.map(({ computed }) => Math.ceil(computed / BLOCK));
          // Between what they need if they share all they can, and what they need if they share nothing.
          expect(kv.size - kv.free).toBeGreaterThanOrEqual(Math.max(0, ...needed));
          expect(kv.size - kv.free).toBeLessThanOrEqual(needed.reduce((sum, blocks) => sum + blocks, 0));
        });
        expect(engine.kv.free).toBe(engine.kv.size);
      }),
      { numRuns: 150, seed: 1 },
    );
  });

  it('ends every request, with exactly its tokens unless it was aborted', () => {
    fc.assert(
      fc.property(actions, (script) => {
        const { engine, all } = play(script, scheduling, () => undefined);
        expect([engine.running, engine.waiting]).toEqual([0, 0]);
        for (const { state, generated, work, cachedTokens } of all) {
          expect(['finished', 'aborted']).toContain(state);
          if (state === 'finished') expect(generated).toBe(work.outputTokens);
          expect(cachedTokens).toBeLessThan(work.promptTokens);
        }
        const { finished, aborted } = engine.totals;
        expect(finished + aborted).toBe(all.length);
      }),
      { numRuns: 150, seed: 2 },
    );
  });

  it('gives the same result for the same actions', () => {
    const trace = (script: readonly Action[]) => {
      const { engine, all, now } = play(script, scheduling, () => undefined);
      return { now, totals: engine.totals, ends: all.map(({ endedAt, generated }) => [endedAt, generated]) };
    };
    fc.assert(
      fc.property(actions, (script) => {
        expect(trace(script)).toEqual(trace(script));
      }),
      { numRuns: 50, seed: 3 },
    );
  });
});
