import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { completionBody, fakeEngine, until } from '../../sidecar/gateway/world.js';
import { batchOf, lineOf, resultsOf, shown } from '../../sidecar/batches/service.js';
import { folderOf } from '../../support/folder.js';
import { Maitred } from '../../support/maitred.js';

const KILLS = Number(process.env['TEST_KILLS'] ?? 100);
const LINES = 4000;
const IN_FLIGHT = 8;
const ENGINE_MS = 20;
const ALIVE_MS = 150;

it(
  'a batch survives kills at any moment: each line is answered once, and few are asked twice',
  { timeout: 900_000 },
  async () => {
    const engine = await fakeEngine(async (response) => {
      await sleep(ENGINE_MS);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(completionBody()));
    });
    const env = { MAITRED_BATCHES_FOLDER: folderOf({}), MAITRED_BATCHES_IN_FLIGHT_MAX: `${IN_FLIGHT}` };
    const start = () => new Maitred(['serve', '--port', '0', '--engine', engine.url], env);
    let gateway = start();
    const lines = Array.from({ length: LINES }, (_, index) =>
      lineOf(`l${index}`, `l${index}`, index % 3 === 0 ? {} : { after: [`l${index - 1}`] }),
    );
    const id = await batchOf(await gateway.url(), lines);
    for (let kill = 0; kill < KILLS; kill++) {
      const url = await gateway.url();
      // A slow machine is killed within the plan each time, unless it may finish it now and then.
      if (kill % 2 === 0) await until(async () => (await shown(url, id))['status'] !== 'validating', 60_000);
      await sleep(Math.random() * ALIVE_MS);
      gateway.kill('SIGKILL');
      await gateway.ended;
      gateway = start();
    }
    const url = await gateway.url();
    await until(async () => (await shown(url, id))['status'] === 'completed', 300_000);
    const { request_counts: counts, output_file_id: output } = await shown(url, id);
    expect(counts).toEqual({ total: LINES, completed: LINES, failed: 0 });
    const results = await resultsOf(url, output);
    expect(new Set(results.map(({ custom_id }) => custom_id)).size).toBe(LINES);
    expect(results).toHaveLength(LINES);
    console.log(`${engine.seen.length - LINES} of ${LINES} lines were asked again in ${KILLS} kills`);
    expect(engine.seen.length).toBeLessThanOrEqual(LINES + KILLS * IN_FLIGHT);
  },
);
