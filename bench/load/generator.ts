import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { LoadDocument } from '../../loadtest/report/index.js';
import { canPin } from '../gateway/stage.js';
import { printTable, say, show } from '../numbers.js';

/** Core of the load tester, and core of the engine. */
const LOAD_CORE = 0;
const ENGINE_CORE = 1;

/** Tokens of a call. */
interface Shape {
  readonly prompt: number;
  readonly output: number;
}

const main = fileURLToPath(new URL('../../cli/main.js', import.meta.url));
const pinned = (core: number, ...args: string[]): [string, string[]] =>
  canPin ? ['taskset', ['-c', String(core), process.execPath, ...args]] : [process.execPath, args];

/** Cost of `maitred load` itself, and the rate above which its times are no longer only the target's. */
export async function benchLoad(quick: boolean): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'maitred-bench-'));
  try {
    say(`maitred load on one core, one stand-in engine on another${canPin ? '' : ' (not so: there is no taskset)'}. Each program is one
call. Late: how much later than meant the last 1 % of calls were sent.\n`);
    await rates(folder, quick);
    await streams(folder, quick);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Calls at fixed rates, to an engine that answers as fast as it can. */
async function rates(folder: string, quick: boolean): Promise<void> {
  const rows: string[][] = [];
  for (const output of [16, 128]) {
    for (const tokensPerSecond of quick ? [16_000] : [4_000, 16_000, 24_000, 32_000, 48_000]) {
      const rate = tokensPerSecond / output;
      const flags = ['--rate', String(rate), '--programs', String(Math.round(rate * (quick ? 1 : 10)))];
      const document = await run(folder, { prompt: 512, output }, ['--speed', '100'], flags);
      rows.push([show(output), show(rate), ...figuresOf(document)]);
    }
  }
  printTable(['output tokens', 'calls a second', ...FIGURES], rows);
}

/** Many streams at once; in a full run, the promised number. */
async function streams(folder: string, quick: boolean): Promise<void> {
  const [count, output] = quick ? [500, 64] : [2000, 400];
  const rows: string[][] = [];
  for (const speed of quick ? [8] : [4, 8]) {
    const flags = ['--concurrency', String(count), '--programs', String(count)];
    const engine = ['--speed', String(speed), '--slots', String(count), '--kv-tokens', String(1e7)];
    const document = await run(folder, { prompt: 32, output }, engine, flags);
    const seconds = document.targets[0]?.inter_token_seconds.p50 ?? NaN;
    rows.push([show(1 / seconds), ...figuresOf(document)]);
  }
  say(`\n${count} streams at once, of ${output} tokens each:\n`);
  printTable(['tokens a second and stream', ...FIGURES], rows);
}

const FIGURES = ['tokens a second in all', 'in flight, most', 'core %', 'CPU ms a call', 'late p99 ms', 'loop lag p99 ms', 'warnings']; // prettier-ignore

const figuresOf = ({ targets, generator, warnings }: LoadDocument): string[] => [
  show(targets[0]?.output_tokens_per_second ?? NaN),
  show(generator.calls_in_flight_max),
  show(100 * generator.cpu_share),
  show(generator.cpu_ms_per_call),
  show(generator.late_send_ms.p99),
  show(generator.loop_lag_ms.p99),
  show(warnings.length),
];

/** One run against a fresh engine, and its document. */
async function run(
  folder: string,
  { prompt, output }: Shape,
  engineFlags: string[],
  flags: string[],
): Promise<LoadDocument> {
  const workload = join(folder, 'workload.yaml');
  const result = join(folder, 'result.json');
  writeFileSync(workload, `workloads: { bench: { kind: agent, inputTokens: ${prompt}, outputTokens: ${output} } }`);
  const engine = spawn(...pinned(ENGINE_CORE, main, 'engine', '--port', '0', ...engineFlags), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(engine, 'exit');
  try {
    const url = await listening(engine.stdout);
    const args = ['load', '--target', url, '--workload', workload, ...flags, '--salt', '--quiet', '--json', result];
    const { status, stderr } = spawnSync(...pinned(LOAD_CORE, main, ...args), { encoding: 'utf8' });
    if (status !== 0) throw new Error(`maitred load ended with ${String(status)}: ${stderr}`);
  } finally {
    engine.kill('SIGKILL');
    await ended;
  }
  return JSON.parse(readFileSync(result, 'utf8')) as LoadDocument;
}

async function listening(stdout: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const { msg, url } = JSON.parse(line) as { readonly msg?: string; readonly url?: string };
    if (msg === 'listening' && url !== undefined) return url;
  }
  throw new Error('the engine did not come up');
}
