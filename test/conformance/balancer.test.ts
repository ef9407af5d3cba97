import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import type { Balancer, CallId, Candidate } from '../../src/index.js';
import { Desk, sentOut } from '../support/core-desk.js';
import { Dice } from '../support/dice.js';
import { drained, lost } from '../support/core-events.js';
import { makeSimBalancer, SIM_BALANCERS } from '../../sim/policies/balancers.js';
import { play } from '../support/core-play.js';

const SEEDS = Array.from({ length: 60 }, (_, index) => 20_000 + index);
const LONG = 5_000;

/** The balancer with checks of the scheduler's requests and of its answers. */
function watched(balancer: Balancer, asked: { count: number }): Balancer {
  const among = <E extends Candidate>(answer: E | undefined, from: readonly E[], who: string): E | undefined => {
    asked.count += 1;
    assert.ok(answer === undefined || from.includes(answer), `${who} answered with an engine that it was not offered`);
    for (const { loadTokens, inFlight } of from)
      assert.ok(loadTokens >= 0 && inFlight >= 0 && (inFlight > 0 || loadTokens >= 0));
    return answer;
  };
  return {
    ...balancer,
    place: (call, home, live) => {
      assert.ok(home === undefined || live.includes(home), 'home is one of the live engines');
      return among(balancer.place(call, home, live), live, 'place');
    },
    choose: (call, open) => {
      assert.ok(open.length > 0, 'choose is never asked to choose from nothing');
      return among(balancer.choose(call, open), open, 'choose')!;
    },
  };
}

/** Numbered calls share four beginnings; of the others, those of a letter share theirs. */
function prefixOf(call: CallId): readonly number[] {
  const number = Number(call.slice(1));
  return [call.startsWith('c') && number >= 0 ? number % 4 : call.charCodeAt(0), 9];
}

describe.each(SIM_BALANCERS)('the balancer %s', (name) => {
  const make = (thresholdTokens = 1_000): Balancer =>
    makeSimBalancer({ name, thresholdTokens, adaptThreshold: false }, prefixOf);
  const desk = (): Desk => new Desk({}, make()).with(['A', 'B'], { window: 1 });

  it('is made by its name', () => {
    expect(make().name).toBe(name);
  });

  it('ends every call once in a world full of trouble, and does the same again', () => {
    const balancer = () => make(200);
    for (const seed of SEEDS) {
      const commands = play({
        seed,
        balancer,
        onEnd: ({ book }) => {
          for (const call of book.calls.values()) assert.equal(call.ends.length, 1, call.id);
        },
      });
      assert.deepEqual(play({ seed, balancer }), commands);
    }
  });

  it('answers with engines that it was offered, and is asked only what it can answer', () => {
    const asked = { count: 0 };
    for (const seed of SEEDS) {
      const dice = new Dice(seed);
      const made = new Desk({ admission: { gate: dice.pick([0, 0.8]) } }, watched(make(200), asked));
      const running: string[] = [];
      for (let n = 0; n < 60; n += 1) {
        const before = made.log.length;
        const engine = dice.pick(['A', 'B', 'C']);
        if (dice.chance(0.1)) made.join(engine, { window: dice.int(1, 3), capacity: dice.int(500, 3_000) });
        else if (dice.chance(0.05)) made.tell(dice.chance(0.5) ? lost(engine) : drained(engine));
        else if (running.length > 0 && dice.chance(0.4)) {
          const [call] = running.splice(dice.int(0, running.length - 1), 1);
          made.tell({ type: 'callFailed', call: call as never, failure: dice.pick(['lost', 'broken']) });
        } else
          made.arrive(`c${n}`, {
            program: `p${dice.int(0, 4)}`,
            prompt: dice.int(1, 900),
          });
        made.pass(dice.int(0, 20));
        for (const each of made.log.slice(before)) if (each.type === 'dispatch') running.push(each.call);
      }
    }
    expect(asked.count).toBeGreaterThan(500);
  });

  it('uses both engines for programs that have nothing in common', () => {
    const made = desk();
    made.arrive('a', { prompt: LONG });
    made.arrive('b', { prompt: LONG });
    expect(sentOut(made.log)).toEqual(['a@A', 'b@B']);
  });

  it('needs no more than one engine', () => {
    const made = new Desk({}, make()).with('A', { window: 1 });
    for (const call of ['a', 'b']) made.arrive(call, { program: 'p', prompt: LONG });
    expect(sentOut(made.finish('a'))).toEqual(['b@A']);
  });

  it('keeps calls waiting with no engine up, and lets them go when one comes', () => {
    const made = desk();
    for (const engine of ['A', 'B']) made.tell(lost(engine));
    for (const call of ['a', 'b']) expect(made.arrive(call, { program: 'p', prompt: LONG })).toEqual([]);
    expect(sentOut(made.join('B', { window: 2 }))).toEqual(['a@B', 'b@B']);
  });

  it.each(['lost', 'drained'])('moves what waited for an engine that is %s', (how) => {
    const made = desk();
    made.arrive('a', { program: 'p', prompt: LONG });
    made.arrive('b', { program: 'q', prompt: LONG });
    made.arrive('a2', { program: 'p', prompt: LONG });
    made.tell(how === 'lost' ? lost('A') : drained('A'));
    expect(sentOut(made.finish('b'))).toEqual(['a2@B']);
  });

  it('starves nobody: every call of a crowd gets its turn', () => {
    const made = desk();
    const crowd = Array.from({ length: 40 }, (_, n) => `c${n}`);
    for (const [n, call] of crowd.entries())
      made.arrive(call, { program: `p${n % 5}`, prompt: n % 3 === 0 ? 50 : LONG });
    const over = new Set<string>();
    for (let round = 0; round < 100; round += 1) {
      for (const command of [...made.log])
        if (command.type === 'dispatch' && !over.has(command.call)) {
          over.add(command.call);
          made.finish(command.call);
        }
    }
    expect(over.size).toBe(40);
  });
});
