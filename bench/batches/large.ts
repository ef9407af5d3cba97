import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readInput } from '../../sidecar/batches/input.js';
import { printTable, show } from '../numbers.js';
import { textOf } from './workflows.js';

/** A batch of the most lines, each of about 1,000 tokens, read, checked and planned: memory, and the longest stall meanwhile. */

const LINES = 50_000;
const TOKENS = 1000;
const CHAIN = 10;
const URL = '/v1/chat/completions';
const MB = 1_048_576;

/** Lines that are alone, in chains, or deterministic: each kind takes other ways through the plan. */
const KINDS = { alone: () => ({}), 'in chains of ten': (at: number) => ({ after: at % CHAIN === 0 ? [] : [`l${at - 1}`] }), deterministic: () => ({}) }; // prettier-ignore

async function writeLines(path: string, lines: number, kind: keyof typeof KINDS): Promise<void> {
  const file = await open(path, 'w');
  const temperature = kind === 'deterministic' ? 0 : 1;
  for (let at = 0; at < lines; at++) {
    const system = { role: 'system', content: textOf(`group ${at % 50}`, TOKENS / 5) };
    const user = { role: 'user', content: textOf(`line ${at}`, (4 * TOKENS) / 5) };
    const body = { model: 'm', temperature, messages: [system, user] };
    await file.write(
      `${JSON.stringify({ custom_id: `l${at}`, method: 'POST', url: URL, body, ...KINDS[kind](at) })}\n`,
    );
  }
  await file.close();
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
  rmSync(folder, { recursive: true });
  printTable(['lines', 'MB before', 'MB at most', 'longest stall, ms'], rows);
}
