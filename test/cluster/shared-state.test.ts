import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatewayId } from '../../cluster/index.js';
import { MemoryStore } from '../../sim/virtual/memory-store.js';
import { engineId, programId, tenantId, type Millis, type Tokens } from '../../src/index.js';
import { claimOf, Desk } from '../support/shared-desk.js';
import { noRedis, RedisServer } from '../../processes/redis.js';

const GATEWAYS = ['g0', 'g1', 'g2', 'g3'].map(gatewayId);
/** A machine that stands still for seconds takes no gateway from the store. */
const PATIENT = { limitMs: 60_000, leaseMs: 120_000 };
const RUNS = Number(process.env['TEST_SEQUENCES'] ?? 40);
const TIMEOUT_MS = 60_000 + 200 * RUNS;

const engine = fc.constantFrom('e0', 'e1');
const program = fc.constantFrom('t:p', 't~p');
const tenant = fc.constantFrom('t', 'old:t');
const key = fc.constantFrom('k0', 'k1');
const count = fc.nat(12);
const few = fc.nat(3);
const tokens = count.map((value) => value as Tokens);
const demand = fc.record({
  // The least window counts: small ones are rare, so that there are slots to give.
  window: fc.oneof({ weight: 19, arbitrary: fc.integer({ min: 9, max: 14 }) }, fc.constantFrom(0, 1, Infinity)),
  inFlight: few,
  loadTokens: tokens,
  weight: count.map((value) => value / 1024),
  steps: fc.array(count, { minLength: 5, maxLength: 5 }),
  activeTokens: tokens,
  claimTokens: tokens,
  cachedTokens: tokens,
  keeps: few,
  // Levels without calls may be absent.
  waiting: fc.sparseArray(few, { maxNumElements: 2, maxLength: 3 }),
});
const record = fc.record(
  {
    serviceMs: fc.double({ min: 0, max: 1e9, noNaN: true }).map((value) => value as Millis),
    calls: count,
    home: engine.map(engineId),
    contexts: fc.dictionary(fc.string(), tokens, { maxKeys: 3 }),
    root: fc.record({ calls: count, firstPromptTokens: tokens, contextTokens: tokens }),
  },
  { requiredKeys: ['serviceMs', 'calls', 'contexts', 'root'] },
);

/** One operation of one desk; names are made unique by the number of the run. */
type Step = (desk: Desk, run: string) => unknown;

const step = <T>(drawn: fc.Arbitrary<T>, act: (desk: Desk, run: string, value: T) => unknown): fc.Arbitrary<Step> =>
  drawn.map((value) => (desk, run) => act(desk, run, value));
const claims = fc.dictionary(engine, demand, { minKeys: 1 }).map(Object.entries<Parameters<typeof claimOf>[1]>);

/** Steps by what they are about: sequences of one kind meet more often on the same names. */
const STEPS: Readonly<Record<string, fc.Arbitrary<Step>>> = {
  engines: fc.oneof(
    {
      weight: 9,
      arbitrary: step(claims, (desk, run, all) => desk.claim(all.map(([name, said]) => claimOf(name + run, said)))),
    },
    step(engine, ({ shared }, run, name) => shared.release(engineId(name + run))),
  ),
  programs: fc.oneof(
    step(fc.tuple(program, record), ({ shared }, run, [id, said]) => shared.put(programId(id + run), said)),
    step(program, ({ shared }, run, id) => shared.take(programId(id + run))),
    step(program, ({ shared }, run, id) => shared.forget(programId(id + run))),
  ),
  keys: fc.oneof(
    step(fc.tuple(tenant, key, program), ({ shared }, run, [who, name, id]) =>
      shared.remember(tenantId(who + run), name, programId(id)),
    ),
    step(fc.tuple(tenant, fc.array(key, { maxLength: 3 })), ({ shared }, run, [who, names]) =>
      shared.find(tenantId(who + run), names),
    ),
  ),
};

type Others = { readonly desks: readonly Desk[]; readonly close: () => unknown };

/** Any two stores hear the same, in their own time. */
function agree(what: string, open: () => Promise<Others>): void {
  describe(`a store in memory and ${what}`, () => {
    let others: Others;
    const store = new MemoryStore(1e6);
    const memory = GATEWAYS.map((gateway) => Desk.inMemory(store, gateway));

    beforeAll(async () => {
      others = await open();
    });

    afterAll(async () => {
      await Promise.all(others.desks.map(({ shared }) => shared.leave()));
      await others.close();
    });

    it.each(Object.keys(STEPS))(
      'give the same answers and messages in any sequence about %s',
      async (about) => {
        const { desks } = others;
        let runs = 0;
        const sequence = fc.array(fc.tuple(fc.nat(GATEWAYS.length - 1), STEPS[about]!), { maxLength: 30, size: 'max' });
        const property = fc.asyncProperty(sequence, async (steps) => {
          const run = `${about}${runs++}`;
          for (const [at, act] of steps) {
            expect(await act(desks[at]!, run)).toEqual(await act(memory[at]!, run));
            await desks[at]!.settled();
          }
          await Promise.all(desks.map((desk) => desk.settled()));
          const heard = (all: readonly Desk[]) => all.map(({ engines, movedAway }) => ({ engines, movedAway }));
          expect(heard(desks)).toEqual(heard(memory));
          // Names are new in each run.
          for (const { engines, movedAway } of [...desks, ...memory]) {
            engines.clear();
            movedAway.clear();
          }
        });
        await fc.assert(property, { numRuns: RUNS, seed: 1 });
      },
      TIMEOUT_MS,
    );
  });
}

describe.skipIf(noRedis !== undefined)('shared state', () => {
  agree('one in Redis', async () => {
    const server = await RedisServer.start();
    const connection = { url: server.path };
    const opened = GATEWAYS.map((gateway) => Desk.inRedis({ connection, pool: 'p', gateway, ...PATIENT }));
    return { desks: await Promise.all(opened), close: () => server.stop() };
  });
});
