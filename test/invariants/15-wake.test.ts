import assert from 'node:assert/strict';
import { expect, it } from 'vitest';
import { Dice } from '../support/dice.js';
import { BALANCERS, POLICIES } from '../support/core-play.js';
import { World, type WorldOptions, type WorldProgram } from '../support/core-world.js';

/** A small crowded world that exercises gates, decays, reservations, spills, promotions and timeouts. */
function worldOf(seed: number): WorldOptions {
  const dice = new Dice(seed);
  const programs: WorldProgram[] = Array.from({ length: dice.int(3, 10) }, (_, index) => ({
    id: `p${index}`,
    startMs: dice.int(0, 300),
    gapMs: dice.int(0, 200),
    steps: Array.from({ length: dice.int(1, 4) }, () =>
      Array.from({ length: dice.pick([1, 1, 1, 3]) }, () => ({
        prompt: dice.chance(0.5) ? dice.int(10, 200) : dice.int(300, 1_200),
        output: dice.int(0, 80),
        serviceMs: dice.int(1, 150),
        thread: dice.pick(['', 'sub']),
      })),
    ),
  }));
  return {
    balancer: dice.pick(BALANCERS),
    changes: {
      policy: { name: dice.pick(POLICIES), firstQuantumMs: 30 },
      starvation: { beta: dice.int(1, 5), floorMs: 40, waitMsMax: dice.int(50, 600) },
      admission: { halfLifeMs: dice.pick([160, 333.3, 800]), reserveMs: dice.int(0, 200), turnMs: dice.int(0, 300) },
      balancer: { spillMs: dice.int(0, 300) },
      timeouts: { queueMs: dice.pick([200, 5_000]), leaseMs: dice.pick([50, 5_000]) },
    },
    engines: {
      A: { window: dice.int(1, 3), capacity: dice.int(1_000, 2_500) },
      ...(dice.chance(0.7) && { B: { window: dice.int(1, 3), ...(dice.chance(0.7) && { capacity: 1_500 }) } }),
    },
    programs,
  };
}

it('a driver that steps at wakeAt alone sees the commands of one that steps every millisecond', () => {
  let commands = 0;
  for (let seed = 0; seed < 300; seed += 1) {
    const awake = new World({ ...worldOf(seed), tickMs: 1 }).run();
    const sleeping = new World(worldOf(seed)).run();
    assert.deepEqual(sleeping.log, awake.log, `in world ${seed}`);
    commands += sleeping.log.length;
  }
  expect(commands).toBeGreaterThan(3_000);
});
