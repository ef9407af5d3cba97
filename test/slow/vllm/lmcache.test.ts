import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADAPTERS } from '../../../sidecar/engines/adapters.js';
import { freePort } from '../../../processes/process.js';
import { NEEDS_VENV, serve, started, type Served } from './served.js';

/** LMCache's server behind vLLM, on a CPU. LMCACHE_PATH: where `pip --target` put LMCache; absent: in the venv. */

const { VLLM_VENV = '', LMCACHE_PATH = '' } = process.env;
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

describe.skipIf(WHY !== '')(`vLLM with LMCache${WHY}`, () => {
  const ends: (() => Promise<void>)[] = [];
  let engine: Served;

  beforeAll(async () => {
    const [port, httpPort] = [await freePort(), await freePort()];
    const memory = ['--l1-size-gb', '1', '--l1-init-size-gb', '1', '--eviction-policy', 'LRU', '--chunk-size', '64'];
    // The default mode serves no CPU.
    const mode = ['--supported-transfer-mode', 'engine_driven'];
    const args = ['server', '--port', `${port}`, '--http-port', `${httpPort}`, ...memory, ...mode];
    const isUp = async () => (await fetch(`http://127.0.0.1:${httpPort}`)).ok;
    ends.push(await started(PYTHON, ['-m', 'lmcache.cli.main', ...args], ENV, isUp));
    const connector = {
      kv_connector: 'LMCacheMPConnector',
      kv_connector_module_path: 'lmcache.integration.vllm.lmcache_mp_connector',
      kv_role: 'kv_both',
      kv_connector_extra_config: { 'lmcache.mp.host': 'tcp://127.0.0.1', 'lmcache.mp.port': port },
    };
    engine = await serve(65, connector, LMCACHE_PATH);
    ends.push(() => engine.end());
  }, 600_000);
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  }, 60_000);

  it('is known to the gateway as an engine with LMCache', async () => {
    await engine.complete('a', 900);
    const get = async (path: string) => (await fetch(engine.url + path)).text();
    expect(await ADAPTERS.vllm.hostTier?.(get)).toBe('LMCache');
  });
});
