import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADAPTERS } from '../../../sidecar/engines/adapters.js';
import { freePort } from '../../../processes/process.js';
import { NEEDS_VENV, promptOf, serve, started, type Served } from './served.js';

/** LMCache's server and coordinator behind vLLM, on a CPU. LMCACHE_PATH: where `pip --target` put LMCache; absent: in the venv. */

const { VLLM_VENV = '', VLLM_MODEL = '', LMCACHE_PATH = '' } = process.env;
const PYTHON = `${VLLM_VENV}/bin/python`;
const ENV = { PYTHONPATH: LMCACHE_PATH, LMCACHE_TRACK_USAGE: 'false', OMP_NUM_THREADS: '1' };

function reason(): string {
  if (NEEDS_VENV !== '') return NEEDS_VENV;
  try {
    execFileSync(PYTHON, ['-c', 'import importlib.util as u, sys; sys.exit(u.find_spec("lmcache") is None)'], {
      env: ENV,
    });
    return '';
  } catch {
    return ' (skipped: LMCache is not installed beside this vLLM, see the README)';
  }
}
const WHY = reason();

async function post(url: string, body: object): Promise<{ status: number; json: Record<string, unknown> }> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }); // prettier-ignore
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

describe.skipIf(WHY !== '')(`vLLM with LMCache${WHY}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'maitred-lmcache-'));
  const ends: (() => Promise<void>)[] = [];
  let engine: Served;
  let [coordinator, server] = ['', ''];

  beforeAll(async () => {
    const [coordinatorPort, port, httpPort] = [await freePort(), await freePort(), await freePort()];
    [coordinator, server] = [coordinatorPort, httpPort].map((each) => `http://127.0.0.1:${each}`) as [string, string];
    const run = async (args: readonly string[], url: string) =>
      ends.push(await started(PYTHON, ['-m', 'lmcache.cli.main', ...args], ENV, async () => (await fetch(url)).ok));
    await run(['coordinator', '--port', `${coordinatorPort}`], `${coordinator}/instances`);
    const memory = ['--l1-size-gb', '1', '--l1-init-size-gb', '1', '--eviction-policy', 'LRU', '--chunk-size', '64'];
    const disk = ['--l2-adapter', JSON.stringify({ type: 'fs', base_path: folder })];
    const known = ['--instance-id', 'one', '--coordinator-url', coordinator, '--coordinator-advertise-ip', '127.0.0.1'];
    // The default mode serves no CPU.
    const mode = ['--supported-transfer-mode', 'engine_driven'];
    await run(
      ['server', '--port', `${port}`, '--http-port', `${httpPort}`, ...memory, ...disk, ...known, ...mode],
      server,
    );
    const connector = {
      kv_connector: 'LMCacheMPConnector',
      kv_connector_module_path: 'lmcache.integration.vllm.lmcache_mp_connector',
      kv_role: 'kv_both',
      kv_connector_extra_config: { 'lmcache.mp.host': 'tcp://127.0.0.1', 'lmcache.mp.port': port },
    };
    engine = await serve({ blocks: 65, connector, path: LMCACHE_PATH });
    ends.push(() => engine.end());
  }, 600_000);
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
    rmSync(folder, { recursive: true });
  }, 60_000);

  it('brings back what was evicted, from host memory, and from disk after a prefetch', async () => {
    const first = await engine.complete('a', 900);
    const evict = async () => {
      for (const name of ['b', 'c', 'd']) await engine.complete(name, 900);
    };
    await evict();
    const again = await engine.complete('a', 900);
    expect([again.cached, again.text]).toEqual([896, first.text]);

    expect((await post(`${server}/cache/clear`, { tier: 'l1' })).status).toBe(200);
    // It knows the model by its path.
    const wanted = { model_name: VLLM_MODEL, world_size: 1, token_ids: promptOf('a', 900), source_tier: 'l2', target_tier: 'l1' }; // prettier-ignore
    const { status, json } = await post(`${server}/cache/prefetches`, wanted);
    expect([status, json['status']]).toEqual([202, 'submitted']);
    let report: Record<string, unknown> = { status: 'pending' };
    while (report['status'] === 'pending') {
      await sleep(100);
      report = (await (
        await fetch(`${server}/cache/prefetches/${String(json['request_id'])}`)
      ).json()) as typeof report;
    }
    expect(report).toMatchObject({ status: 'completed', found_keys: 14, total_keys: 14 });
    const asked = async (instance: string) =>
      (await post(`${coordinator}/cache/prefetches`, { ...wanted, instance_id: instance })).status;
    expect([await asked('one'), await asked('two')]).toEqual([200, 404]);

    await evict();
    expect((await engine.complete('a', 900)).cached).toBe(896);
    expect(await engine.metric('external_prefix_cache_hits_total')).toBeGreaterThanOrEqual(2 * 896);
  }, 300_000);

  it('is known to the gateway as an engine with LMCache', async () => {
    const get = async (path: string) => (await fetch(engine.url + path)).text();
    expect(await ADAPTERS.vllm.hostTier?.(get)).toBe('LMCache');
  });
});
