import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { freePort, Revivable } from '../../../processes/process.js';
import { batchOf, lineOf, resultsOf, shown } from '../../sidecar/batches/service.js';
import { cleanUp, completionBody, fakeEngine, metrics, until } from '../../sidecar/gateway/world.js';
import { folderOf } from '../../support/folder.js';
import { noRedis, RedisServer } from '../../../processes/redis.js';

const GATEWAYS = 3;
const LEASE_MS = 1500;
const KILLS = 6;
const LINES = 1500;
const IN_FLIGHT = 8;
const ENGINE_MS = 60;
const PATIENCE_MS = 90_000;

it.skipIf(noRedis !== undefined)(
  'a batch goes on at another gateway whenever the one that runs it is killed, and each line is answered once',
  async () => {
    const store = await RedisServer.start();
    const engine = await fakeEngine(async (response) => {
      await sleep(ENGINE_MS);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(completionBody()));
    });
    const folder = folderOf({});
    const shared = join(folder, 'batches');
    mkdirSync(shared);
    const gateways = new Map<string, Revivable>();
    cleanUp(async () => {
      await Promise.all([...gateways.values()].map((gateway) => gateway.kill()));
      await store.stop();
    });
    for (let i = 0; i < GATEWAYS; i++) {
      const port = await freePort();
      const address = `http://127.0.0.1:${port}`;
      const file = join(folder, `g${i}.json`);
      const config = {
        engines: [{ url: engine.url, kind: 'openai', window: 64 }],
        cluster: { url: store.path, gateway: `g${i}`, address, heartbeatMs: 100, leaseMs: LEASE_MS },
        batches: { folder: shared, inFlightMax: IN_FLIGHT },
      };
      writeFileSync(file, JSON.stringify(config));
      const gateway = new Revivable(['serve', '--config', file], `${port}`);
      gateways.set(address, gateway);
      await gateway.start();
    }
    const [first = ''] = gateways.keys();
    const lines = Array.from({ length: LINES }, (_, index) => lineOf(`l${index}`, `l${index}`));
    const id = await batchOf(first, lines);
    /** The gateway that runs the batch: metrics are a gateway's own, `/gateway` is of all. */
    const holder = async (): Promise<string | undefined> => {
      for (const [address, gateway] of gateways)
        if (!Number.isNaN(gateway.pid) && (await metrics(address)).get('maitred_batches') === 1) return address;
      return undefined;
    };
    const holders = new Set<string>();
    for (let kill = 0; kill < KILLS; kill++) {
      let address: string | undefined;
      await until(async () => (address = await holder()) !== undefined, PATIENCE_MS);
      holders.add(address!);
      await sleep(Math.random() * 500);
      await gateways.get(address!)!.kill();
      await until(async () => (await holder()) !== undefined, PATIENCE_MS);
      await gateways.get(address!)!.start();
    }
    // Any gateway tells of the batch, whoever runs it.
    const done = async () => (await shown(first, id))['status'] === 'completed';
    await until(done, PATIENCE_MS);
    const { request_counts: counts, output_file_id: output } = await shown(first, id);
    expect(counts).toEqual({ total: LINES, completed: LINES, failed: 0 });
    const results = await resultsOf(first, output);
    expect(new Set(results.map(({ custom_id }) => custom_id)).size).toBe(LINES);
    expect(results).toHaveLength(LINES);
    expect(holders.size).toBeGreaterThan(1);
    expect(engine.seen.length).toBeLessThanOrEqual(LINES + KILLS * IN_FLIGHT);
  },
);
