import { describe, expect, it } from 'vitest';
import type { Call } from '../../../src/programs/call.js';
import { HORIZON_STEPS, classOf, LearnedRetention } from '../../../src/kv/retention.js';
import { Desk } from '../../support/core-desk.js';

const KIND = 3;
const ENOUGH = 300;

/** Has seen `ENOUGH` contexts come back after `age` steps each; undefined: none did. */
function taught(age: number | undefined, worthSteps: number): LearnedRetention {
  const returns = new LearnedRetention();
  returns.worthSteps = worthSteps;
  for (let seen = 0; seen < ENOUGH; seen += 1) returns.learn(KIND, age);
  return returns;
}

describe('idle contexts', () => {
  it('are held until the age at which their kind comes back, and no longer', () => {
    const returns = taught(5, 20);
    for (const age of [0, 3, 5]) expect(returns.share(KIND, age)).toBeGreaterThan(0.95);
    for (const age of [6, 30, HORIZON_STEPS]) expect(returns.share(KIND, age)).toBe(0);
  });

  it('are not held when that takes longer than it is worth', () => {
    expect(taught(30, 20).share(KIND, 0)).toBe(0);
    expect(taught(30, 40).share(KIND, 0)).toBeGreaterThan(0.95);
  });

  it('are let go again when their kind stops coming back, and another kind is not', () => {
    const returns = taught(5, 40);
    const before = returns.share(KIND - 1, 0);
    for (let seen = 0; seen < ENOUGH; seen += 1) returns.learn(KIND, undefined);
    expect(returns.share(KIND, 0)).toBe(0);
    expect(before).toBeGreaterThan(0.5);
    expect(returns.share(KIND - 1, 0)).toBe(before);
  });

  it('are told apart by calls made, tools called and home', () => {
    const call = (callsTotal: number) => ({ program: { callsTotal } }) as unknown as Call;
    const kinds = [1, 2, 3, 5].flatMap((made) =>
      [false, true].flatMap((tool) => [false, true].map((atHome) => classOf(call(made), tool, atHome))),
    );
    expect(new Set(kinds).size).toBe(16);
    expect([classOf(call(4), false, true), classOf(call(99), true, true)]).toEqual([
      classOf(call(3), false, true),
      classOf(call(5), true, true),
    ]);
  });

  it('are worth seconds even in a cache that fills in no time', () => {
    const desk = new Desk({ policy: { msPerPromptToken: 0.1 }, admission: { gate: 1, outputReserveTokens: 0 } });
    desk.join('A', { window: 8, capacity: 12_800 });
    for (let n = 0; n < 40; n += 1) {
      desk.arrive(`p${n}`, { program: 'p', prompt: 1_500 });
      desk.finish(`p${n}`, { prompt: 1_500, output: 0 });
      desk.pass(500);
    }
    expect(desk.engine('A').workingSetTokens).toBeGreaterThan(1_000);
  });
});
