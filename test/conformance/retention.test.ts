import { describe, expect, it } from 'vitest';
import { programId, RETENTION_NAMES } from '../../src/index.js';
import { HORIZON_STEPS } from '../../src/policies/idle-steps.js';
import { makeRetention } from '../../src/policies/by-name.js';
import { FIRST, LATER, learntRetention } from '../../src/policies/retention-learnt.js';
import type { ContextClass, RetentionPolicy } from '../../src/policies/retention.js';
import { Desk } from '../support/core-desk.js';
import { Dice } from '../support/dice.js';

const ENOUGH = 300;
const CLASSES: readonly ContextClass[] = [FIRST, LATER, 40, HORIZON_STEPS];

const CONTEXT = { program: { id: programId('p'), callsFinished: 2 }, thread: '' };
const learn = (retention: RetentionPolicy, kind: ContextClass, age: number | undefined): void =>
  retention.learn(kind, age, CONTEXT);

/** A policy after `ENOUGH` random outcomes of both classes. */
function experienced(name: (typeof RETENTION_NAMES)[number], seed: number): RetentionPolicy {
  const retention = makeRetention(name);
  const dice = new Dice(seed);
  for (let seen = 0; seen < ENOUGH; seen += 1)
    learn(retention, dice.pick(CLASSES), dice.pick([undefined, dice.int(0, HORIZON_STEPS + 5)]));
  return retention;
}

describe.each(RETENTION_NAMES)('%s', (name) => {
  it('holds between nothing and all of a context, and nothing at the horizon', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const retention = experienced(name, seed);
      for (const kind of CLASSES) {
        for (const worthSteps of [0, 5, 50, Infinity]) {
          const shares = Array.from({ length: HORIZON_STEPS }, (_, age) => retention.share(kind, age, worthSteps));
          expect(shares.filter((share) => !(share >= 0 && share <= 1))).toEqual([]);
          for (const age of [HORIZON_STEPS, HORIZON_STEPS + 100])
            expect(retention.share(kind, age, worthSteps)).toBe(0);
        }
      }
    }
  });

  it('gives the same shares after the same outcomes', () => {
    const [one, other] = [experienced(name, 7), experienced(name, 7)];
    for (const kind of CLASSES)
      for (let age = 0; age < HORIZON_STEPS; age += 1)
        expect(one.share(kind, age, 20)).toBe(other.share(kind, age, 20));
  });

  it('never holds more of a context as it stays idle, and in the end nothing', () => {
    const desk = new Desk({
      policy: { msPerPromptToken: 100 },
      admission: { gate: 1, halfLifeMs: 1_600, outputReserveTokens: 0, retention: name },
    }).with('A', { window: 8, capacity: 100_000 });
    for (const call of ['p1', 'p2', 'p3']) {
      desk.serve(call, { program: 'p', prompt: 10_000 }, { prompt: 10_000, output: 0 });
    }
    const course = [0, 800, 800, 800, 20_000].map((idleMs) => {
      desk.pass(idleMs);
      desk.tell({ type: 'woke' });
      return desk.engine('A').workingSetTokens;
    });
    expect(course).toEqual(course.toSorted((a, b) => b - a));
    expect(course.at(-1)).toBe(0);
    if (name === 'lru') expect(course[0]).toBe(0);
    else expect(course[0]).toBeGreaterThan(5_000);
    if (name === 'learnt' || name === 'half-life') expect(new Set(course.slice(0, 4)).size).toBe(4);
  });
});

describe('learnt', () => {
  /** A policy after `ENOUGH` contexts that each returned after `age` steps; undefined: none returned. */
  function taught(age: number | undefined): RetentionPolicy {
    const retention = makeRetention('learnt');
    for (let seen = 0; seen < ENOUGH; seen += 1) learn(retention, LATER, age);
    return retention;
  }

  it('tells the context of a program’s first answer from later ones, however many calls were refused before', () => {
    const classOf = (callsFinished: number) =>
      makeRetention('learnt').classOf({ ...CONTEXT, program: { ...CONTEXT.program, callsFinished } });
    expect([0, 1, 2, 9].map(classOf)).toEqual([FIRST, FIRST, LATER, LATER]);
  });

  it('holds contexts until the age at which their class comes back, and no longer', () => {
    const retention = taught(5);
    for (const age of [0, 3, 5]) expect(retention.share(LATER, age, 20)).toBeGreaterThan(0.95);
    for (const age of [6, 30, HORIZON_STEPS]) expect(retention.share(LATER, age, 20)).toBe(0);
  });

  it('does not hold them when that takes longer than it is worth', () => {
    // Back within the step.
    expect(taught(0).share(LATER, 0, 1)).toBeGreaterThan(0.95);
    expect(taught(1).share(LATER, 0, 1)).toBe(0);
    expect(taught(30).share(LATER, 0, 20)).toBe(0);
    expect(taught(30).share(LATER, 0, 40)).toBeGreaterThan(0.95);
  });

  it('lets them go again when their class stops coming back, and the other is not touched', () => {
    const retention = taught(5);
    const before = retention.share(FIRST, 0, 40);
    for (let seen = 0; seen < ENOUGH; seen += 1) learn(retention, LATER, undefined);
    expect(retention.share(LATER, 0, 40)).toBe(0);
    expect(retention.share(FIRST, 0, 40)).toBe(before);
  });

  it('holds a program’s first context for less than a later one, until it has learnt', () => {
    const retention = makeRetention('learnt');
    expect(retention.share(FIRST, 0, 40)).toBeLessThan(retention.share(LATER, 0, 40) / 2);
  });

  it('learns of returns to contexts that the cache lost meanwhile, where they come soon enough to be worth the room', () => {
    /** @param afterMs of the returns, in turn */
    const held = (...afterMs: readonly number[]) => heldBy('learnt', afterMs);
    const heldBy = (retention: 'learnt' | (() => RetentionPolicy), afterMs: readonly number[]) => {
      const admission = { gate: 1, outputReserveTokens: 0, retention };
      const desk = new Desk({ policy: { msPerPromptToken: 1.3 }, admission }).with('A', {
        window: 1,
        capacity: 15_000,
      });
      const serve = (call: string, program: string) =>
        desk.serve(call, { program, prompt: 10_000 }, { prompt: 10_000, output: 0 });
      for (let n = 0; n < 60; n += 1) {
        serve(`p${n}`, `p${n}`);
        serve(`other${n}`, 'other');
        desk.pass(afterMs[n % afterMs.length] ?? 0);
        if (afterMs.length > 0) serve(`again${n}`, `p${n}`);
        desk.pass(100_000);
      }
      serve('last', 'last');
      return desk.engine('A').workingSetTokens;
    };
    expect(held(1_000)).toBeGreaterThan(9_000);
    expect(held(1_000, 20_000, 20_000, 20_000)).toBeGreaterThan(5_000);
    expect(held(20_000)).toBe(0);
    expect(held()).toBe(0);
    expect(heldBy(() => ({ ...learntRetention(), isOfKept: true }), [1_000])).toBe(0);
  });

  it('holds contexts for seconds even in a cache that fills in no time, while much runs', () => {
    const heldBy = (retention: 'learnt' | (() => RetentionPolicy)) => {
      const admission = { gate: 1, outputReserveTokens: 0, retention };
      const desk = new Desk({ policy: { msPerPromptToken: 0.3 }, admission }).with('A', {
        window: 8,
        capacity: 12_800,
      });
      desk.arrive('long', { program: 'long', prompt: 8_000 });
      for (let n = 0; n < 40; n += 1) {
        desk.serve(`p${n}`, { program: 'p', prompt: 1_500 }, { prompt: 1_500, output: 0 });
        desk.pass(500);
      }
      return desk.engine('A').workingSetTokens;
    };
    expect(heldBy('learnt')).toBeGreaterThan(9_000);
    expect(heldBy(() => ({ ...learntRetention(), isByFillAlone: true }))).toBe(8_000);
  });
});

it('another retention policy is taken up when the settings change', () => {
  const desk = new Desk({ admission: { gate: 1, outputReserveTokens: 0, retention: 'learnt' } });
  const left = (): number => {
    desk.arrive(`p${desk.nowMs}`, { program: `p${desk.nowMs}`, prompt: 10_000 });
    desk.finish(`p${desk.nowMs}`, { prompt: 10_000, output: 0 });
    return desk.engine('A').workingSetTokens;
  };
  desk.join('A', { window: 8, capacity: 100_000 });
  expect(left()).toBeLessThan(5_000);
  desk.pass(1_000_000);
  desk.configure({ admission: { gate: 1, outputReserveTokens: 0, retention: 'half-life' } });
  expect(left()).toBe(10_000);
});
