import { execFileSync } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { documentOf } from '../../cli/sim/document.js';
import { tablesOf } from '../../cli/sim/tables.js';
import type { Plan } from '../../cli/sim/plan.js';
import type * as Pools from '../../lab/threads/pool.js';
import type { RunReport } from '../../cli/sim/worker.js';
import { configSchema } from '../../sidecar/config/index.js';
import { PRESETS } from '../../sim/index.js';
import { folderOf } from '../support/folder.js';
import { Maitred } from '../support/maitred.js';
import { recorded } from '../support/sim-command.js';
import { ROOT } from '../support/tree.js';

const PLAN: Plan = {
  source: { type: 'workload', workload: 'chat' },
  gapMsMax: Infinity,
  programs: 100_000_000,
  lists: { policy: ['pass-through', 'plas'], balancer: ['sticky'] },
  variants: (['pass-through', 'plas'] as const).map((policy) => ({
    policy,
    balancer: 'sticky',
    values: { policy, balancer: 'sticky' },
    arrivals: { type: 'closed', concurrency: 4 },
    engines: 1,
    preset: 'tiny-cpu',
    engine: { preset: PRESETS['llama-3.1-8b-a100'], blockSize: 16 },
    conditions: { name: 'none', conditions: {} },
    config: configSchema.parse({}),
    retention: undefined,
  })),
  seeds: [1, 2],
  slos: [],
  isExact: false,
  announceEnds: false,
  margin: 0.02,
};

describe('stopping a simulation', () => {
  it('tells what there is of the runs under way', async () => {
    // As it is built: a thread runs from a file.
    const { Pool } = (await import(`${ROOT}dist/lab/threads/pool.js`)) as typeof Pools;
    const pool = new Pool<Plan, RunReport>(new URL(`file://${ROOT}dist/cli/sim/worker.js`), PLAN, 4, 1);
    while (pool.programsDone === 0) await pause(5);
    pool.stop();
    const reports = await pool.ended;
    expect([...reports.keys()]).toEqual([0]);
    expect(reports.get(0)).toMatchObject({ policy: 'pass-through', seed: 1, complete: false });
    expect(reports.get(0)!.programs).toBeGreaterThan(0);
    const runs = [...reports.values()];
    const text = tablesOf(PLAN, runs, documentOf(PLAN, runs, [], undefined), 200);
    expect(text).toContain('Stopped: runs that had not ended are left out.\n');
    expect(text).toMatch(/chat: 100,000,000 programs 4 at a time, .* seeds 1, 2\n/);
    expect(text).not.toContain('no comparison');
  });

  /** Stops a command, which must end with one document. */
  async function stopped(...args: readonly string[]): Promise<Maitred> {
    const maitred = new Maitred(['sim', ...args, '--json']);
    while (!isListening(maitred)) await pause(5);
    maitred.kill('SIGINT');
    expect(await maitred.ended).toBe(130);
    expect(JSON.parse(maitred.stdout)).toMatchObject({ version: 1, complete: false });
    return maitred;
  }

  it.skipIf(process.platform !== 'linux')('by a signal ends with 130 and one document', async () => {
    const line = '--workload chat --policy plas --concurrency 4 --programs 100000000';
    expect((await stopped(...line.split(' '))).stderr).toMatch(/^maitred: .*\n$/);
  });

  it.skipIf(process.platform !== 'linux')('while a recording is read ends with 130 and one document', async () => {
    const fifo = join(folderOf({}), 'programs.jsonl');
    execFileSync('mkfifo', [fifo]);
    const written = pipeline(endless(), createWriteStream(fifo)).catch((error: unknown) => error);
    await stopped('--trace', fifo, '--rate', '1');
    expect(await written).toMatchObject({ code: 'EPIPE' });
  });
});

/** A recording that does not end by itself. */
async function* endless(): AsyncGenerator<string> {
  for (let count = 0; ; count += 1) {
    yield recorded(`p${count}`);
    await pause(1);
  }
}

/** Whether it listens to signals: Node itself takes care of SIGINT from the beginning, but not of SIGHUP. */
function isListening({ process: { pid } }: Maitred): boolean {
  const mask = /^SigCgt:\s*([0-9a-f]+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return BigInt(`0x${mask}`) % 2n === 1n;
}
