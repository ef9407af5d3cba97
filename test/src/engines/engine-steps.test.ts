import { describe, expect, it } from 'vitest';
import { programId, tenantId } from '../../../src/index.js';
import { EngineTable } from '../../../src/engines/engine-table.js';
import { Call } from '../../../src/programs/call.js';
import { Program } from '../../../src/programs/process-table.js';
import { coreConfig } from '../../support/core-config.js';
import { arrived, finished, joined, shared } from '../../support/core-events.js';

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
      const { stepTime, limit } = this.engine;
      const prefillMsPerToken = this.engine.prices(NaN).computed;
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

  it('is also what other gateways have found', () => {
    const there = new Bench();
    for (let call = 0; call < 64; call += 1) there.run(call % 2 === 0 ? 1_000 : 9_000);
    const here = new Bench();
    expect(here.engine.stepTime.emptyMs).toBeUndefined();
    here.engine.share(shared('A', { steps: there.engine.stepTime.sums }), 0);
    expect(here.engine.stepTime.emptyMs).toBeCloseTo(20, 1);
  });
});
