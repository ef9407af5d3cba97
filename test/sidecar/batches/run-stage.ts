import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Pass } from '../../../plans/index.js';
import { readInput } from '../../../sidecar/batches/input.js';
import { Results } from '../../../sidecar/batches/results.js';
import { Run, type LineAnswer, type LineRequest } from '../../../sidecar/batches/run.js';
import { folderOf } from '../../support/folder.js';

export const OK: LineAnswer = {
  status: 200,
  body: Buffer.from('{"choices":[{"message":{"content":"x"}}]}'),
  isBusy: false,
};
const disk = { isOurs: () => true, failed: () => Promise.resolve(false) };

export interface Given {
  readonly lines: readonly string[];
  readonly answer?: (request: LineRequest) => LineAnswer | undefined;
  readonly folder?: string;
  readonly passes?: readonly Pass[];
}

/** A run whose timers fire at once, up to a number of steps. */
export async function runOf({ lines, answer = () => OK, folder = folderOf({}), passes }: Given) {
  const path = join(folder, 'in');
  writeFileSync(path, lines.join('\n'));
  const input = await readInput(path, { linesMax: 1000, lineBytes: 100_000, ...(passes && { passes }) });
  const paths = { output: join(folder, 'out'), errors: join(folder, 'err') };
  const results = await Results.open('b', input.lines, paths, disk);
  const asked: string[] = [];
  const timers: { fn: () => void; ms: number }[] = [];
  const run = await Run.open('b', path, input, results, {
    ask: (request) => {
      asked.push(request.id);
      return Promise.resolve(answer(request));
    },
    changed: () => undefined,
    setTimer: (fn, ms) => {
      timers.push({ fn, ms });
      return () => undefined;
    },
  });
  const all = async (max = 1000) => {
    for (let i = 0; i < max && (run.isReady || timers.length > 0); i++) {
      if (!run.isReady) for (const { fn } of timers.splice(0)) fn();
      expect(await run.startNext()).toBeUndefined();
    }
  };
  return { run, results, asked, timers, all, paths, folder };
}

export const idsOf = (path: string): string[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
