import { mkdtempSync, openAsBlob, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { readInput } from '../../sidecar/batches/input.js';
import { HEADERS, MODEL, PATH, prose } from '../gateway/bodies.js';
import { Stage } from '../gateway/stage.js';
import { makeRandom, printTable, show } from '../numbers.js';

/**
 * A batch of the most lines, each of about 1,000 tokens: read, checked and planned, with the longest stall meanwhile, and run by a
 * gateway at full speed. Memory of both.
 */

const LINES = 50_000;
/** The file stays just below the gateway's limit of 200 MiB. */
const TOKENS = 960;
const CHAIN = 10;
const MB = 1_048_576;

/** Lines that are alone, in chains, or deterministic: each kind takes other ways through the plan. */
const KINDS = { alone: () => ({}), 'in chains of ten': (at: number) => ({ after: at % CHAIN === 0 ? [] : [`l${at - 1}`] }), deterministic: () => ({}) }; // prettier-ignore

/** Text of about this many tokens, the same for the same seed. */
const textOf = (seed: number, tokens: number): string => prose(makeRandom(seed), 4 * tokens);

async function writeLines(path: string, lines: number, kind: keyof typeof KINDS): Promise<void> {
  const file = await open(path, 'w');
  const temperature = kind === 'deterministic' ? 0 : 1;
  for (let at = 0; at < lines; at++) {
    const system = { role: 'system', content: textOf(at % 50, TOKENS / 5) };
    const user = { role: 'user', content: textOf(LINES + at, (4 * TOKENS) / 5) };
    const body = { model: MODEL, temperature, messages: [system, user] };
    await file.write(
      `${JSON.stringify({ custom_id: `l${at}`, method: 'POST', url: PATH, body, ...KINDS[kind](at) })}\n`,
    );
  }
  await file.close();
}

/** @returns megabytes of a gateway before and at most, and the seconds that the batch takes */
async function runWhole(path: string, folder: string): Promise<readonly [number, number, number]> {
  return Stage.with(async (stage) => {
    const gateway = await stage.startGateway({ batches: { folder } });
    const before = gateway.rssBytes() ?? NaN;
    const ask = async (where: string, init?: RequestInit) =>
      (await (await fetch(`${gateway.url}/v1/${where}`, init)).json()) as {
        readonly id: string;
        readonly status: string;
      };
    const form = new FormData();
    form.append('purpose', 'batch');
    form.append('file', await openAsBlob(path), 'lines.jsonl');
    const { id: input } = await ask('files', { method: 'POST', body: form });
    const startedAt = performance.now();
    const body = JSON.stringify({ input_file_id: input, endpoint: PATH, completion_window: '24h' });
    let batch = await ask('batches', { method: 'POST', headers: HEADERS, body });
    for (; ['validating', 'in_progress', 'finalizing'].includes(batch.status); batch = await ask(`batches/${batch.id}`))
      await sleep(200);
    if (batch.status !== 'completed') throw new Error(`the batch is ${batch.status}`);
    return [before / MB, (gateway.peakBytes() ?? NaN) / MB, (performance.now() - startedAt) / 1000];
  });
}

export async function benchLarge(quick: boolean): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'maitred-bench-'));
  const rows: string[][] = [];
  for (const kind of Object.keys(KINDS) as (keyof typeof KINDS)[]) {
    const path = join(folder, 'lines');
    await writeLines(path, quick ? LINES / 10 : LINES, kind);
    const before = process.memoryUsage.rss();
    let peak = before;
    const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await readInput(path, { linesMax: LINES, lineBytes: MB });
    delay.disable();
    clearInterval(sampling);
    rows.push([kind, show(before / MB), show(peak / MB), show(delay.max / 1e6)]);
  }
  printTable(['lines', 'MB before', 'MB at most', 'longest stall, ms'], rows);
  await writeLines(join(folder, 'lines'), quick ? LINES / 10 : LINES, 'alone');
  const whole = await runWhole(join(folder, 'lines'), join(folder, 'batches'));
  rmSync(folder, { recursive: true });
  printTable(['a whole run', 'MB before', 'MB at most', 'seconds'], [['alone', ...whole.map((value) => show(value))]]);
}
