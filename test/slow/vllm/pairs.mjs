/**
 * `node test/slow/vllm/pairs.mjs URL [PROGRAMS]`: pairs of runs on one vLLM, with and without sessions. The
 * order within a pair alternates, and each run begins with an empty cache. Needs a built `dist`, and a vLLM
 * with our scheduler and `VLLM_SERVER_DEV_MODE=1`, which has `/reset_prefix_cache`.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const [url, programs = '24'] = process.argv.slice(2);
if (url === undefined) throw new Error('which vLLM? node test/slow/vllm/pairs.mjs URL [PROGRAMS]');

const PAIRS = 3;
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CLI = join(ROOT, 'dist/cli/main.js');
const WORKLOAD = fileURLToPath(new URL('pairs.yaml', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'maitred-pairs-'));

const engine = { url, id: 'e', kind: 'vllm' };
const ARMS = {
  off: { engines: [{ ...engine, sessions: false }] },
  on: { engines: [engine] },
};

async function counters() {
  const text = await (await fetch(`${url}/metrics`)).text();
  const read = (name) =>
    [...text.matchAll(new RegExp(`^vllm:${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    );
  return { asked: read('prefix_cache_queries_total'), found: read('prefix_cache_hits_total') };
}

/** Starts a gateway; returns its URL and a function that ends it. */
async function gateway(arm) {
  const file = join(folder, 'gateway.json');
  writeFileSync(file, JSON.stringify({ listen: { port: 0 }, admin: { port: 0 }, ...ARMS[arm] }));
  const child = spawn(process.execPath, [CLI, 'serve', '--config', file], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, url: at } = JSON.parse(line);
    if (msg === 'listening') {
      child.stdout.resume();
      return { at, end: () => new Promise((resolve) => child.once('exit', resolve) && child.kill('SIGTERM')) };
    }
  }
  throw new Error('the gateway did not start');
}

async function run(arm, seed) {
  const reset = await fetch(`${url}/reset_prefix_cache`, { method: 'POST' });
  if (!reset.ok) throw new Error(`POST /reset_prefix_cache answered ${reset.status}: set VLLM_SERVER_DEV_MODE=1`);
  const { at, end } = await gateway(arm);
  const before = await counters();
  const json = join(folder, 'run.json');
  const flags = ['--concurrency', '9', '--programs', programs, '--repeat', '1', '--no-baseline', '--quiet'];
  await promisify(execFile)(process.execPath, [CLI, 'load', '--target', at, '--workload', WORKLOAD, ...flags, '--identity', 'thunderagent', '--salt', '--seed', String(seed), '--json', json]); // prettier-ignore
  const after = await counters();
  await end();
  const { targets } = JSON.parse(readFileSync(json, 'utf8'));
  const { program_seconds: times, ttft_seconds: first } = targets[0];
  return { arm, seed, mean_s: times.mean, p95_s: times.p95, ttft_s: first.mean, hits: (after.found - before.found) / (after.asked - before.asked), computed: after.asked - before.asked - (after.found - before.found) }; // prettier-ignore
}

try {
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const arms = Object.keys(ARMS);
    for (const arm of pair % 2 === 0 ? arms : arms.reverse()) console.log(JSON.stringify(await run(arm, pair)));
  }
} finally {
  rmSync(folder, { recursive: true });
}
