import { describe, expect, it } from 'vitest';
import { modelId, programId, tenantId, type Millis } from '../../../src/index.js';
import { EngineTable } from '../../../src/engines/engine-table.js';
import { Call } from '../../../src/programs/call.js';
import { Program } from '../../../src/programs/process-table.js';
import { coreConfig } from '../../support/core-config.js';
import { Desk, sentOut } from '../../support/core-desk.js';
import { arrived, drained, failed, finished, joined, lost, reported } from '../../support/core-events.js';

const LONG = 5_000;

describe('a lost engine', () => {
  it('gets nothing more; what waited for it goes elsewhere, in its place', () => {
    const desk = new Desk();
    desk.join('A', { window: 1 });
    desk.arrive('past', { program: 'p', prompt: LONG });
    desk.finish('past');
    desk.arrive('run', { program: 'p', prompt: LONG });
    desk.join('B', { window: 1 });
    desk.arrive('blocker');
    desk.arrive('bound', { program: 'p', prompt: LONG });
    desk.arrive('later');
    expect(desk.engine('A').pinned).toBe(1);
    expect(desk.tell(lost('A'))).toEqual([]);
    expect(sentOut(desk.finish('blocker'))).toEqual(['bound@B']);
    expect(desk.program('p').home).toBe('B');
    expect(desk.engine('A')).toMatchObject({ state: 'lost', pinned: 0, inFlight: 1 });
    desk.finish('run'); // Its running calls still end one by one.
    expect(desk.engine('A').inFlight).toBe(0);
  });

  it('alone of its model, keeps calls waiting until it is back', () => {
    const desk = new Desk();
    desk.join('A', { window: 1 });
    desk.arrive('a');
    desk.arrive('b', { prompt: LONG });
    desk.tell(lost('A'));
    expect(desk.arrive('c')).toEqual([]);
    expect(desk.fail('a', 'broken')).toEqual([]);
    expect(sentOut(desk.join('A', { window: 3 }))).toEqual(['a@A', 'b@A', 'c@A']);
  });

  it("that comes back is nobody's home", () => {
    const desk = new Desk();
    desk.join('A');
    desk.arrive('a', { program: 'p', prompt: LONG });
    desk.finish('a', { prompt: LONG, output: 10 });
    expect(desk.program('p').home).toBe('A');
    desk.tell(lost('A'));
    expect(desk.program('p').home).toBeUndefined();
    desk.join('A', { capacity: 90_000 });
    expect(desk.program('p').home).toBeUndefined();
    expect(desk.engine('A').workingSetTokens).toBe(0);
  });
});

describe('a lost engine that had idle contexts', () => {
  it('holds none of them when it comes back', () => {
    const desk = new Desk({ policy: { msPerPromptToken: 100 }, admission: { gate: 1, outputReserveTokens: 0 } });
    desk.join('A', { capacity: 1_000 });
    for (const call of ['p1', 'p2', 'p3']) {
      desk.arrive(call, { program: 'p', prompt: 700 });
      desk.finish(call, { prompt: 700, output: 0 });
    }
    desk.arrive('run', { prompt: 100 });
    expect(desk.arrive('new', { prompt: 800 })).toEqual([]);
    desk.tell(lost('A'));
    expect(sentOut(desk.join('A', { capacity: 1_000 }))).toEqual(['new@A']);
  });
});

describe('a drained engine', () => {
  it('finishes what it runs, gets nothing more, and is forgotten with its last call', () => {
    const desk = new Desk();
    desk.join('A', { window: 2 });
    desk.arrive('a');
    desk.arrive('b');
    desk.join('B', { window: 1 });
    desk.tell(drained('A'));
    expect(sentOut(desk.arrive('c'))).toEqual(['c@B']);
    desk.finish('a');
    expect(desk.engine('A').state).toBe('draining');
    desk.finish('b');
    expect(desk.scheduler.views.engines().map((engine) => engine.id)).toEqual(['B']);
  });

  it('without a call in flight is forgotten at once', () => {
    const desk = new Desk();
    desk.join('A');
    desk.tell(drained('A'));
    expect(desk.engine('A')).toBeUndefined();
  });

  it('that is then lost does not stay in the table', () => {
    const desk = new Desk();
    desk.join('A');
    desk.arrive('a');
    desk.tell(drained('A'));
    desk.tell(lost('A'));
    desk.fail('a', 'lost');
    expect(desk.scheduler.views.engines()).toEqual([]);
  });

  it('the last of its model: every call that waits for it is refused, once', () => {
    const desk = new Desk();
    desk.join('A', { window: 1 });
    desk.arrive('past', { program: 'p', prompt: LONG });
    desk.arrive('bound', { program: 'p', prompt: LONG });
    desk.arrive('free');
    const refused = desk.tell(drained('A'));
    expect(
      refused.map((command) => (command.type === 'reject' ? `${command.call} ${command.refusal}` : command.type)),
    ).toEqual(['bound no_engine', 'free no_engine']);
    expect(desk.scheduler.views.queue().waiting).toBe(0);
    expect(desk.fail('past', 'broken')).toEqual([{ type: 'reject', call: 'past', refusal: 'no_engine' }]);
  });

  it('may come back before it is done', () => {
    const desk = new Desk();
    desk.join('A', { window: 2 });
    desk.arrive('a');
    desk.tell(drained('A'));
    desk.join('A', { window: 2 });
    expect(sentOut(desk.arrive('b'))).toEqual(['b@A']);
    desk.finish('a');
    expect(desk.engine('A')).toMatchObject({ state: 'up', inFlight: 1 });
  });
});

describe('an engine on probation', () => {
  it('gets one call at a time until one has finished', () => {
    const desk = new Desk();
    desk.join('A', { window: 4, probation: true });
    for (const call of ['a', 'b', 'c']) desk.arrive(call);
    expect(sentOut(desk.log)).toEqual(['a@A']);
    expect(sentOut(desk.fail('a', 'lost'))).toEqual(['b@A']);
    expect(sentOut(desk.finish('b'))).toEqual(['c@A']);
    expect(sentOut(desk.arrive('d'))).toEqual(['d@A']);
    expect(desk.engine('A')).toMatchObject({ probation: false, window: 4 });
  });

  it('or until it has joined without that', () => {
    const desk = new Desk();
    desk.join('A', { window: 4, probation: true });
    for (const call of ['a', 'b', 'c']) desk.arrive(call);
    expect(sentOut(desk.join('A', { window: 4 }))).toEqual(['b@A', 'c@A']);
  });

  it('holds a pass-through policy to that as well', () => {
    const desk = new Desk({ policy: { name: 'pass-through' } });
    desk.join('A', { window: 4, probation: true });
    for (const call of ['a', 'b', 'c']) desk.arrive(call);
    expect(sentOut(desk.log)).toEqual(['a@A']);
    expect(sentOut(desk.finish('a'))).toEqual(['b@A', 'c@A']);
  });
});

describe('models', () => {
  it('a call goes only to engines that serve its model', () => {
    const desk = new Desk();
    desk.join('A', { models: ['m'], window: 1 });
    desk.join('B', { models: ['n'], window: 1 });
    desk.join('C', { models: ['m', 'n'], window: 1 });
    for (const [call, model] of [
      ['1', 'n'],
      ['2', 'n'],
      ['3', 'm'],
      ['4', 'm'],
      ['5', 'n'],
    ] as const)
      desk.arrive(call, { model });
    expect(sentOut(desk.log)).toEqual(['1@B', '2@C', '3@A']);
    expect(sentOut(desk.finish('2'))).toEqual(['4@C']);
    expect(sentOut(desk.finish('3'))).toEqual([]);
    expect(sentOut(desk.finish('1'))).toEqual(['5@B']);
  });

  it('an engine that comes back without a model gives its calls to others, or refuses them', () => {
    const desk = new Desk();
    desk.join('A', { models: ['m', 'n'], window: 1 });
    desk.arrive('run');
    desk.arrive('wants-n', { model: 'n' });
    desk.arrive('wants-m');
    expect(desk.join('A', { models: ['m'], window: 1 })).toEqual([
      { type: 'reject', call: 'wants-n', refusal: 'no_engine' },
    ]);
    expect(sentOut(desk.finish('run'))).toEqual(['wants-m@A']);
  });
});

describe('load reports', () => {
  it('move an adaptive window, and more goes out at once', () => {
    const desk = new Desk({ admission: { window: 'adaptive', windowInitial: 2 } });
    desk.join('A');
    for (const call of ['a', 'b', 'c', 'd', 'e']) desk.arrive(call);
    expect(sentOut(desk.log)).toEqual(['a@A', 'b@A']);
    expect(sentOut(desk.tell(reported('A', { waiting: 0 })))).toEqual(['c@A', 'd@A']);
    for (const waiting of [2, 2]) desk.tell(reported('A', { waiting }));
    expect(desk.engine('A').window).toBe(2);
    for (const call of ['a', 'b']) expect(desk.finish(call)).toEqual([]);
    expect(sentOut(desk.finish('c'))).toEqual(['e@A']);
  });

  it('move it while all that it lets in takes longer than the time between two of them', () => {
    const desk = new Desk({ admission: { window: 'adaptive', windowInitial: 2 } });
    desk.join('A');
    for (const call of ['a', 'b', 'c', 'd', 'e']) desk.arrive(call);
    desk.tell(reported('A', { waiting: 1 }));
    expect(desk.engine('A').window).toBe(2);
    expect(sentOut(desk.tell(reported('A', { waiting: 0 })))).toEqual(['c@A', 'd@A']);
  });
});

describe('an engine that rests', () => {
  it('is waited for no longer once it was lost and has joined again', () => {
    const desk = new Desk();
    desk.join('A');
    desk.arrive('a');
    desk.fail('a', 'unreached', 5_000);
    expect(desk.wakeAtMs).toBe(5_000);
    desk.tell(lost('A'));
    expect(sentOut(desk.join('A'))).toEqual(['a@A']);
    expect(desk.wakeAtMs).toBeGreaterThan(desk.nowMs);
  });

  it('still rests when it joins with another capacity', () => {
    const desk = new Desk();
    desk.join('A', { capacity: 10_000 });
    desk.arrive('a');
    desk.fail('a', 'unreached', 5_000);
    expect(desk.join('A', { capacity: 10_001 })).toEqual([]);
    expect(desk.engine('A').resting).toBe(true);
    expect(desk.pass(4_999)).toEqual([]);
    expect(sentOut(desk.pass(1))).toEqual(['a@A']);
  });

  it.each([undefined, 0, NaN])('rests for a moment when it says %s: its call does not come back at once', (restMs) => {
    const desk = new Desk();
    desk.join('A');
    desk.arrive('a');
    const busy = { ...failed('a', 'busy', 0), ...(restMs !== undefined && { restMs: restMs as Millis }) };
    expect(desk.tell(busy)).toEqual([]);
    expect(desk.wakeAtMs).toBe(1);
    expect(sentOut(desk.pass(1))).toEqual(['a@A']);
  });
});

it('a model that no engine serves any more is forgotten', () => {
  const engineTable = new EngineTable();
  const models = ['x', 'y', 'z'].map(modelId);
  const engine = engineTable.join(joined('A'), coreConfig().admission);
  for (const model of models) engineTable.serve(engine, [model]);
  expect(engineTable.pool(models[0]!)).toBeUndefined();
  expect(engineTable.serves(models[2]!)).toBe(true);
});

describe('what an engine is found to do', () => {
  const PREFILL_MS_PER_TOKEN = 0.5;
  const STEPS = 100;

  /** Runs calls one after the other, with a step of 20 ms and 1 ms for each 1,000 tokens of load. */
  class Bench {
    readonly engine = new EngineTable().join(joined('A'), coreConfig().admission);
    #nowMs = 0;
    #calls = 0;

    run(promptTokens: number, streams = true): void {
      const call = this.#call(promptTokens);
      this.engine.batch.add(call, this.#nowMs);
      this.#send(call, streams);
      this.#end(call, STEPS * (20 + 1e-3 * this.engine.batch.loadTokens));
      this.engine.batch.remove(call, this.#nowMs);
    }

    /** An over-long call, which the engine answers all the same, without a stream. */
    runOversized(promptTokens: number, streams: boolean): void {
      const call = this.#call(promptTokens);
      call.isOversized = true;
      this.#send(call, streams);
      this.#end(call, 9_000);
    }

    /** An answer of a few tokens, each of which takes a second. */
    runShort(): void {
      const call = this.#call(5_000);
      this.#send(call, true);
      this.#end(call, 15_000, 15);
    }

    #send(call: Call, streams: boolean): void {
      call.sent(this.#nowMs);
      this.#nowMs += PREFILL_MS_PER_TOKEN * call.promptTokens;
      if (streams) this.engine.started(call, this.#nowMs);
    }

    #call(prompt: number): Call {
      const program = new Program(programId('p'), tenantId('t'), 0);
      return new Call(arrived('c', { prompt }), this.#calls++, program, 0, this.#nowMs);
    }

    #end(call: Call, decodeMs: number, output = STEPS + 1): void {
      this.#nowMs += decodeMs;
      const usage = { prompt: call.promptTokens, cached: 0, output };
      this.engine.finished(call, finished('c', usage), this.#nowMs);
    }

    get learnt() {
      const { stepTime, prefillMsPerToken, limit } = this.engine;
      const { emptyMs, msPerToken } = stepTime;
      return { emptyMs, msPerToken, prefillMsPerToken, window: limit.size };
    }
  }

  function experienced(): Bench {
    const bench = new Bench();
    for (let call = 0; call < 300; call += 1) bench.run(2_000 + 100 * ((call * 37) % 100));
    return bench;
  }

  it('is told from the first token on: the prefill before it is no part of a step', () => {
    const { emptyMs, msPerToken } = experienced().learnt;
    expect(emptyMs).toBeCloseTo(20, 6);
    expect(msPerToken).toBeCloseTo(1e-3, 9);
  });

  it('is what the prefill leaves of the time, where answers are no streams', () => {
    const bench = experienced();
    for (let call = 0; call < 2_000; call += 1) bench.run(2_000 + 100 * ((call * 37) % 100), false);
    expect(Math.abs(bench.learnt.emptyMs! - 20)).toBeLessThan(2);
    expect(bench.learnt.msPerToken).toBeCloseTo(1e-3, 4);
  });

  it('is not told by answers of a few tokens', () => {
    const bench = experienced();
    const { emptyMs, msPerToken } = bench.learnt;
    bench.runShort();
    expect(bench.learnt).toMatchObject({ emptyMs, msPerToken });
  });

  it.each([true, false])('does not change with an over-long call that it answers (a stream: %s)', (streams) => {
    const bench = experienced();
    const before = bench.learnt;
    bench.runOversized(11_000, streams);
    expect(bench.learnt).toEqual(before);
  });
});
