import { beforeEach, describe, expect, it } from 'vitest';
import { MruPause } from '../../../sim/policies/mru-pause.js';
import { millis, type Command, type Event } from '../../../src/index.js';
import { arrived, cancelled, ended, finished, joined, reported, woke } from '../../support/core-events.js';
import { coreConfig, type CoreChanges } from '../../support/core-config.js';
import { sentOut } from '../../support/core-desk.js';

const CAPACITY = 10_000;

/** Talks to the scheduler, waking it when it asks for it. */
class Bench {
  steps: MruPause;
  nowMs = 0;
  #wakeAtMs = Infinity;

  constructor(changes: CoreChanges = {}, engines: readonly string[] = ['A']) {
    // A cache that takes 100 s to fill: waiting for a return is worth that much.
    this.steps = new MruPause(coreConfig({ policy: { msPerPromptToken: 10 }, ...changes }));
    for (const engine of engines) this.tell(joined(engine, { capacity: CAPACITY }));
  }

  tell(event: Event): Command[] {
    const commands = this.steps.step(event, millis(this.nowMs));
    for (const command of commands) if (command.type === 'wakeAt') this.#wakeAtMs = command.at;
    return commands.filter(({ type }) => type !== 'wakeAt');
  }

  arrive(call: string, program: string, prompt: number): Command[] {
    return this.tell(arrived(call, { program, prompt }));
  }

  finish(call: string, prompt: number): Command[] {
    return this.tell(finished(call, { prompt, output: 100 }));
  }

  pass(durationMs: number): Command[] {
    const untilMs = this.nowMs + durationMs;
    const brought: Command[] = [];
    while (this.#wakeAtMs <= untilMs) {
      this.nowMs = Math.max(this.nowMs, this.#wakeAtMs);
      this.#wakeAtMs = Infinity;
      brought.push(...this.tell(woke));
    }
    this.nowMs = untilMs;
    return brought;
  }

  /** Programs that come back after so long, again and again, until it is known that this is what they do. */
  teach(returnMs: number): void {
    for (let call = 0; call <= 100; call += 1) {
      this.arrive(`teach-${call}`, 'teacher', 10);
      this.finish(`teach-${call}`, 10);
      this.pass(returnMs);
    }
    this.tell(ended('teacher'));
  }
}

describe('mru-pause', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench();
  });

  it('lets programs in while their contexts fit, and keeps calls of those that do not', () => {
    expect(sentOut(bench.arrive('a', 'p', 6000))).toEqual(['a@A']);
    expect(bench.arrive('b', 'q', 6000)).toEqual([]);
    expect(sentOut(bench.arrive('c', 'p', 300))).toEqual(['c@A']);
    expect(sentOut(bench.finish('c', 300))).toEqual([]);
    expect(sentOut(bench.finish('a', 6000))).toEqual(['b@A']);
  });

  it('takes a program that is larger than all of an engine once that is empty', () => {
    bench.arrive('a', 'p', 100);
    expect(bench.arrive('b', 'q', 2 * CAPACITY)).toEqual([]);
    expect(sentOut(bench.finish('a', 100))).toEqual(['b@A']);
  });

  it('resumes the most recently used first', () => {
    bench.arrive('a', 'p', 9000);
    for (const call of ['x', 'y', 'z']) {
      bench.nowMs += 1;
      expect(bench.arrive(call, call, 4000)).toEqual([]);
    }
    expect(sentOut(bench.finish('a', 9000))).toEqual(['z@A', 'y@A']);
  });

  it('lets nobody in while the engine queues', () => {
    bench.arrive('a', 'p', 100);
    bench.tell(reported('A', { waiting: 1 }));
    expect(bench.arrive('b', 'q', 100)).toEqual([]);
    expect(sentOut(bench.tell(reported('A', { waiting: 0 })))).toEqual(['b@A']);
  });

  it('gives a place up at once until it has seen that programs return, then after ten seconds at the latest', () => {
    bench.arrive('a', 'p', 6000);
    bench.arrive('b', 'q', 6000);
    expect(sentOut(bench.finish('a', 6000))).toEqual(['b@A']);
    bench.finish('b', 6000);

    bench.teach(9000);
    bench.arrive('c', 'r', 6000);
    bench.finish('c', 6000);
    expect(bench.arrive('d', 's', 6000)).toEqual([]);
    expect(bench.pass(8999)).toEqual([]);
    expect(sentOut(bench.pass(2))).toEqual(['d@A']);
  });

  it('never waits longer than ten seconds for a program to return', () => {
    bench.teach(11_000);
    bench.arrive('c', 'r', 6000);
    bench.finish('c', 6000);
    expect(sentOut(bench.arrive('d', 's', 6000))).toEqual(['d@A']);
  });

  it('resumes whoever has waited for 300 seconds, whatever the room', () => {
    bench.arrive('a', 'p', 9000);
    expect(bench.arrive('b', 'q', 9000)).toEqual([]);
    expect(bench.pass(299_999)).toEqual([]);
    expect(sentOut(bench.pass(1))).toEqual(['b@A']);
    expect(bench.steps.totals.promotions).toBe(1);
  });

  it('makes a program yield after 14 rounds when others wait, and once', () => {
    bench.teach(1000);
    for (let round = 1; round <= 14; round += 1) {
      expect(sentOut(bench.arrive(`p${round}`, 'p', 6000))).toEqual([`p${round}@A`]);
      if (round === 13) bench.arrive('q', 'q', 6000);
      const brought = sentOut(bench.finish(`p${round}`, 6000));
      expect(brought).toEqual(round === 14 ? ['q@A'] : []);
    }
    // It is the most recently used of those that wait, yet another goes first.
    bench.arrive('r', 'r', 6000);
    bench.nowMs += 1;
    bench.arrive('p15', 'p', 6000);
    bench.finish('q', 6000);
    expect(sentOut(bench.pass(2000))).toEqual(['r@A']);
  });

  it('pauses who is over the high watermark when its calls have ended, the longest unused first', () => {
    bench.teach(1000);
    bench.arrive('a', 'p', 3000);
    bench.nowMs += 1;
    bench.arrive('b', 'q', 3000);
    bench.nowMs += 1;
    // It outgrows the engine while it runs.
    bench.arrive('b2', 'q', 9000);
    bench.finish('a', 3000);
    expect(bench.arrive('a2', 'p', 3000)).toEqual([]);
  });

  it('moves a program to an engine with much more room', () => {
    bench = new Bench({}, ['A', 'B']);
    expect(sentOut(bench.arrive('a', 'p', 6000))).toEqual(['a@A']);
    expect(sentOut(bench.arrive('b', 'q', 6000))).toEqual(['b@B']);
    bench.arrive('c', 'r', 3000);
    bench.nowMs += 1;
    expect(bench.arrive('d', 's', 6000)).toEqual([]);
    // Bound to A, and B is empty.
    expect(sentOut(bench.finish('b', 6000))).toEqual(['d@B']);
  });

  it('refuses calls as the core does', () => {
    const none = new Bench({}, []);
    expect(none.arrive('a', 'p', 10)).toEqual([{ type: 'reject', call: 'a', refusal: 'no_engine' }]);
    bench = new Bench({ limits: { queuedMax: 1 }, timeouts: { queueMs: 500 } });
    bench.arrive('a', 'p', 9000);
    bench.arrive('b', 'q', 9000);
    expect(bench.arrive('c', 'r', 9000)).toEqual([{ type: 'reject', call: 'c', refusal: 'queue_full' }]);
    expect(bench.pass(500)).toEqual([{ type: 'reject', call: 'b', refusal: 'queue_timeout' }]);
    expect(bench.finish('a', 9000)).toEqual([]);
  });

  it('lets go of calls whose clients have gone', () => {
    bench.arrive('a', 'p', 9000);
    bench.arrive('b', 'q', 9000);
    bench.arrive('c', 'r', 9000);
    bench.tell(cancelled('c'));
    expect(sentOut(bench.tell(cancelled('a')))).toEqual(['b@A']);
  });

  it('forgets programs after their lease', () => {
    bench = new Bench({ timeouts: { leaseMs: 1000 } });
    bench.arrive('a', 'p', 9000);
    bench.finish('a', 9000);
    bench.pass(1000);
    // With its context it would not fit beside this one.
    bench.arrive('b', 'q', 5000);
    expect(sentOut(bench.arrive('c', 'p', 100))).toEqual(['c@A']);
  });
});
