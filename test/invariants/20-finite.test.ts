import assert from 'node:assert/strict';
import { it } from 'vitest';
import { tokens, type Millis, type Scheduler } from '../../src/index.js';
import { Desk } from '../support/core-desk.js';
import { arrived, ended, finished } from '../support/core-events.js';
import { Dice } from '../support/dice.js';

const LEVELS = 14;
/** Most tokens that a client may declare (docs/DECLARATIONS.md). */
const TOKENS_MAX = 1e9;
const SEQUENCES = Number(process.env['TEST_SEQUENCES'] ?? 150);

/** Declared tokens of one tenant's programs: any, extremes, equal, or hardly different. */
const MODES: readonly ((dice: Dice) => number)[] = [
  (dice) => dice.int(0, TOKENS_MAX),
  (dice) => dice.pick([0, 1, TOKENS_MAX]),
  () => 10_000,
  (dice) => 10_000 + dice.int(0, 10),
  (dice) => dice.pick([10_000 + dice.int(0, 10), 20_000, TOKENS_MAX]),
];

function checkStandings({ views }: Scheduler): number {
  let declared = 0;
  for (const { id, level, serviceMs, threads, forecast } of views.programs()) {
    assert.ok(Number.isFinite(serviceMs) && serviceMs >= 0, `${id} has ${serviceMs} ms of service`);
    for (const each of [level, ...threads.map((thread) => thread.level)])
      assert.ok(Number.isInteger(each) && each >= 0 && each < LEVELS, `${id} stands at ${each}`);
    if (forecast?.source !== 'declared') continue;
    declared += 1;
    assert.ok(Number.isFinite(forecast.remainingMs) && forecast.remainingMs > 0, `${id}: ${forecast.remainingMs} ms`);
  }
  return declared;
}

it('whatever clients, engines and other gateways claim, service is finite, and every call stands in a queue', () => {
  let declared = 0;
  for (let seed = 0; seed < SEQUENCES; seed += 1) {
    const dice = new Dice(seed);
    const desk = new Desk({
      policy: {
        firstQuantumMs: 125,
        countPrompt: true,
        foresight: 'declared',
      },
      admission: { batching: 'knee', gate: 0 },
      timeouts: { leaseMs: dice.pick([1_000, 1e6]) },
    }).with('A', { window: dice.int(1, 8) });
    const draw = dice.pick(MODES);
    for (let program = 0; program < 40; program += 1) {
      const id = `p${dice.chance(0.8) ? program : dice.int(0, program)}`;
      const call = `c${program}`;
      const arrival = arrived(call, {
        program: id,
        remaining: { prompt: draw(dice), output: dice.pick([0, draw(dice)]) },
      });
      const serviceMs = dice.pick([0, NaN, Infinity, -5, 1e12]) as Millis;
      const root = { calls: 1, firstPromptTokens: tokens(1), contextTokens: tokens(1) };
      desk.tell(dice.chance(0.9) ? arrival : { ...arrival, elsewhere: { serviceMs, calls: 1, root } });
      declared += checkStandings(desk.scheduler);
      desk.pass(dice.pick([0, 1, (program + 1) * 1_000, 300_000]));
      const usage = { promptTokens: tokens(draw(dice)), outputTokens: tokens(0) };
      desk.tell({ ...finished(call), ...(dice.chance(0.1) && { serviceMs }), ...(dice.chance(0.5) && { usage }) });
      if (dice.chance(0.8)) desk.tell(ended(id));
      declared += checkStandings(desk.scheduler);
    }
  }
  assert.ok(declared > SEQUENCES, `only ${declared} forecasts by declarations`);
});
