import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatewayId } from '../../cluster/index.js';
import { makeClient, type Client } from '../../cluster/redis/client.js';
import { claimText, parseClaimed } from '../../cluster/redis/wire.js';
import { SharedTables } from '../campaign/shared-tables.js';
import { noRedis, RedisServer } from '../../processes/redis.js';
import { claimOf } from '../support/shared-desk.js';

const RUNS = Number(process.env['TEST_SEQUENCES'] ?? 100);
const FOR_EVER_MS = '1000000';

/** Hears a claim as a script would: its keys, and its arguments. */
type Store = (keys: readonly string[], args: readonly string[]) => unknown;

/** Gateways that have used an engine alone, by equal shares, and claim it from an empty store one after the other. */
class Returning {
  /** Calls that each may have in flight, as it has heard. */
  readonly used: number[];
  #reply: unknown;

  constructor(
    private readonly store: Store,
    private readonly engine: string,
    private readonly window: number,
    private readonly inFlight: readonly number[],
  ) {
    const share = Math.ceil(window / inFlight.length);
    this.used = inFlight.map((calls) => Math.max(calls, share));
  }

  get sum(): number {
    return this.used.reduce((all, slots) => all + slots);
  }

  /** The store hears a claim. Nobody hears of it before `hear`. */
  async claim(gateway: number, waiting: readonly number[]): Promise<void> {
    const [inFlight, keeps] = [this.inFlight[gateway]!, this.used[gateway]!];
    const text = claimText([claimOf(this.engine, { window: this.window, inFlight, keeps, waiting })], []);
    const keys = [`{${this.engine}}gateways`, `{${this.engine}}engines`];
    const live = `${this.inFlight.length}`;
    this.#reply = await this.store(keys, [`g${gateway}`, 'parts:', FOR_EVER_MS, FOR_EVER_MS, live, text]);
  }

  hear(gateway: number): void {
    for (const { ledger } of parseClaimed(this.#reply).states) {
      const slots = ledger.partOf(gatewayId(`g${gateway}`))?.slots;
      if (slots !== undefined) this.used[gateway] = Math.max(slots, this.inFlight[gateway]!);
    }
  }
}

const few = fc.nat(24);
const step = fc.record({
  claims: fc.nat(4),
  waiting: fc.array(few, { maxLength: 3 }),
  hears: fc.subarray([0, 1, 2, 3, 4]),
});

/** The store of the campaign keeps the rules of the scripts, so that both find the same faults. */
function describeStore(what: string, open: () => Promise<{ readonly store: Store; readonly close: () => unknown }>) {
  describe(`${what}, come back empty`, () => {
    let opened: Awaited<ReturnType<typeof open>>;

    beforeAll(async () => {
      opened = await open();
    });

    afterAll(() => opened.close());

    it('gives no slot away that a gateway still uses, in any order of claims and of hearing', async () => {
      let runs = 0;
      const property = fc.asyncProperty(
        fc.array(few, { minLength: 2, maxLength: 5 }),
        fc.integer({ min: 4, max: 64 }),
        fc.array(step, { minLength: 1, maxLength: 12 }),
        async (inFlight, window, steps) => {
          const returning = new Returning(opened.store, `e${runs++}`, window, inFlight);
          // Equal shares, rounded up, and the calls above them that were in flight.
          const most = returning.sum;
          for (const { claims, waiting, hears } of steps) {
            await returning.claim(claims % inFlight.length, waiting);
            for (const gateway of hears) if (gateway < inFlight.length) returning.hear(gateway);
            expect(returning.sum).toBeLessThanOrEqual(most);
          }
        },
      );
      await fc.assert(property, { numRuns: RUNS, seed: 1 });
    });

    it('leaves a busy gateway nothing of what the next ones have used alone', async () => {
      const returning = new Returning(opened.store, 'busy', 64, [2, 10, 20, 7]);
      for (const gateway of [2, 0, 1, 3]) {
        await returning.claim(gateway, []);
        returning.hear(2);
      }
      expect(returning.used).toEqual([16, 16, 20, 16]);
      for (const gateway of [0, 1, 2, 3]) returning.hear(gateway);
      expect(returning.used).toEqual([12, 16, 20, 16]);
    });
  });
}

describeStore('the store of the campaign', () => {
  // One for each engine, as scripts know an engine by its keys.
  const tables = new Map<string, SharedTables>();
  const store: Store = (keys, args) => {
    const [name = ''] = keys;
    const table = tables.get(name) ?? new SharedTables({ now: () => 0, publish: () => undefined });
    tables.set(name, table);
    return table.run('maitredClaim', keys, args);
  };
  return Promise.resolve({ store, close: () => undefined });
});

describe.skipIf(noRedis !== undefined)('Redis', () => {
  describeStore('a server', async () => {
    const server = await RedisServer.start();
    const client: Client = await makeClient({ url: server.path }, 'test');
    await client.connect();
    const close = (): Promise<void> => {
      client.disconnect();
      return server.stop();
    };
    return { store: (keys, args) => client.maitredClaim(...keys, ...args), close };
  });
});
