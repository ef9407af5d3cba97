import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Dice } from '../../../workloads/dice.js';
import { noRedis } from '../../../processes/redis.js';
import { stepStore } from './clocks.js';
import { fill, startEngines, WINDOW, type Counted } from './counted.js';
import { Fleet, GATEWAYS } from './fleet.js';

/** Times that each fault happens. */
const TIMES = Number(process.env['TEST_FAULTS'] ?? 2);
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const SHARE = Math.ceil(WINDOW / GATEWAYS);
/** docs/CLUSTER.md: one gateway may have had all calls in flight when the others took their shares. */
const ALL_ALONE = WINDOW + (GATEWAYS - 1) * SHARE;
/** The same, and those with the store have taken all slots after the lease of the one without has ended. */
const SOME_ALONE = 2 * WINDOW + (GATEWAYS - 2) * SHARE;

/** A fault, from its beginning until all gateways share again. */
interface Fault {
  readonly name: string;
  /** Most calls of an engine in flight meanwhile. */
  readonly most: number;
  readonly breaksSockets?: boolean;
  /** How far each gateway's clock is off. */
  readonly clocksMs?: readonly number[];
  readonly happen: (fleet: Fleet, dice: Dice) => Promise<void>;
}

const FAULTS: readonly Fault[] = [
  {
    name: 'a gateway is killed',
    // One that starts and does not hear of the store within a second takes its share.
    most: WINDOW + SHARE,
    breaksSockets: true,
    happen: async (fleet, dice) => {
      const gateway = fleet.gateways[dice.int(0, GATEWAYS - 1)]!;
      await gateway.kill();
      await fleet.stand('shared', GATEWAYS - 1);
      await gateway.start();
    },
  },
  {
    name: 'the store is killed',
    most: ALL_ALONE,
    happen: async (fleet, dice) => {
      await fleet.store.kill();
      await fleet.stand('split', GATEWAYS);
      await sleep(dice.int(0, 1500));
      await fleet.store.start();
    },
  },
  {
    name: 'the store is restarted empty',
    most: ALL_ALONE,
    happen: (fleet) => fleet.restart(),
  },
  {
    name: 'the store stands still for 10 s',
    most: ALL_ALONE,
    happen: async (fleet) => {
      fleet.store.pause();
      await Promise.all([sleep(10_000), fleet.stand('split', GATEWAYS)]);
      fleet.store.resume();
    },
  },
  {
    name: 'no gateway reaches the store',
    most: ALL_ALONE,
    happen: async (fleet, dice) => {
      for (const proxy of fleet.proxies) proxy.hold();
      await fleet.stand('split', GATEWAYS);
      // Shorter and longer than a lease.
      await sleep(dice.int(0, 5000));
      for (const proxy of fleet.proxies) proxy.release();
    },
  },
  {
    name: 'one gateway does not reach the store',
    most: SOME_ALONE,
    happen: async (fleet, dice) => {
      const index = dice.int(0, GATEWAYS - 1);
      fleet.proxies[index]!.hold();
      await fleet.split(index);
      await sleep(dice.int(0, 5000));
      fleet.proxies[index]!.release();
    },
  },
  {
    name: 'a replica without the last writes is promoted',
    most: ALL_ALONE,
    happen: (fleet, dice) => fleet.promote(dice.int(50, 1000)),
  },
  {
    name: 'clocks are an hour off',
    clocksMs: [HOUR_MS, -HOUR_MS],
    most: SOME_ALONE,
    happen: async ({ store }, dice) => {
      await stepStore(store.path, dice.int(0, 1) === 0 ? 'forward' : 'back');
      await sleep(dice.int(1500, 5000));
    },
  },
];

const mostOf = (engines: readonly Counted[]): number => Math.max(...engines.map(({ most }) => most));

describe.skipIf(noRedis !== undefined)('three gateways under load', () => {
  for (const fault of FAULTS)
    it(
      `fail no call, ${TIMES} times: ${fault.name}`,
      async () => {
        const engines = await startEngines();
        const fleet = await Fleet.start(engines, fault.clocksMs);
        for (let time = 0; time < TIMES; time += 1) {
          const dice = Dice.of(time, 0);
          for (const engine of engines) engine.most = 0;
          const failures = await fleet.failures();
          const endLoad = fleet.load();
          await sleep(dice.int(100, 1000));
          // A busy machine may have made operations late.
          if ((await fleet.failures()).join() === failures.join()) expect(mostOf(engines)).toBeLessThanOrEqual(WINDOW);
          await fault.happen(fleet, dice);
          await fleet.healed();
          const { broken, failed } = await endLoad();
          expect(failed).toEqual([]);
          expect(mostOf(engines)).toBeLessThanOrEqual(fault.most);
          if (fault.breaksSockets !== true) expect(broken).toBe(0);
          await fill(engines, fleet.urls);
        }
      },
      MINUTE_MS + TIMES * MINUTE_MS,
    );
});
