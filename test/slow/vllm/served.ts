import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../processes/process.js';
import { samplesOf } from '../../../sidecar/engines/prometheus.js';

/** Servers of vLLM that a test starts for itself, with flags of its own. */

const HERE = new URL('.', import.meta.url).pathname;
const { VLLM_VENV = '', VLLM_MODEL = '' } = process.env;
/** Suffix for names of skipped tests, with the reason. */
export const NEEDS_VENV =
  VLLM_VENV === '' || VLLM_MODEL === ''
    ? ' (skipped: VLLM_VENV and VLLM_MODEL name no installed vLLM, see the README)'
    : '';

const START_MS = 240_000;

/** vLLM's own offloading, with this extra configuration of `host_tier.py`. */
export const offloading = (extra: object) => ({
  kv_connector: 'OffloadingConnector',
  kv_role: 'kv_both',
  kv_connector_extra_config: { spec_name: 'HostTier', spec_module_path: 'host_tier', cpu_bytes_to_use: 2e8, ...extra },
});

/** A prompt of so many tokens, the same for the same name. */
const promptOf = (name: string, tokens: number): number[] =>
  Array.from({ length: tokens }, (_, index) => 300 + ((name.charCodeAt(0) * 131 + index * 7) % 3000));

/** Runs `command` until `isUp`; its group gets SIGTERM at the end. */
export async function started(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  isUp: () => Promise<boolean>,
) {
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (output = (output + String(data)).slice(-4000)));
  const until = performance.now() + START_MS;
  while (!(await isUp().catch(() => false))) {
    if (child.exitCode !== null || performance.now() > until) {
      await ended(child);
      throw new Error(`${command} did not start: ${output}`);
    }
    await sleep(500);
  }
  return () => ended(child);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const exit = once(child, 'exit');
  process.kill(-child.pid, 'SIGTERM');
  const late = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), 20_000);
  await exit;
  clearTimeout(late);
}

/** @param path a folder for Python's path */
export async function serve(blocks: number, connector: object, path = '') {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const end = await started(
    `${HERE}serve.sh`,
    [VLLM_VENV, VLLM_MODEL, `${port}`, '--max-model-len', '2048', '--kv-transfer-config', JSON.stringify(connector)],
    { PYTHONPATH: `${HERE}:${path}`, BLOCKS: `${blocks}`, LMCACHE_TRACK_USAGE: 'false' },
    async () => (await fetch(`${url}/health`)).ok,
  );
  return {
    url,
    end,
    /** A completion of `promptOf`, by the server or what stands before it. */
    async complete(name: string, tokens: number, more: object = {}, at = url) {
      const body = { model: 'tiny', prompt: promptOf(name, tokens), max_tokens: 4, temperature: 0, ignore_eos: true };
      const response = await fetch(`${at}/v1/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, ...more }),
      });
      const answer = (await response.json()) as {
        readonly choices?: readonly { readonly text: string }[];
        readonly usage?: { readonly prompt_tokens_details?: { readonly cached_tokens?: number } };
      };
      const cached = answer.usage?.prompt_tokens_details?.cached_tokens ?? 0;
      return { status: response.status, text: answer.choices?.[0]?.text ?? '', cached };
    },
    /** Sum of a metric's samples whose labels contain this text. */
    async metric(name: string, labels = ''): Promise<number> {
      const text = await (await fetch(`${url}/metrics`)).text();
      const lines = text.split('\n').filter((line) => line.includes(labels));
      const samples = samplesOf(lines.join('\n'), `vllm:${name}`);
      return samples.reduce((sum, { value }) => sum + value, 0);
    },
  };
}
export type Served = Awaited<ReturnType<typeof serve>>;
