import type * as CommandLine from '../../cli/program.js';
import type { SimDocument } from '../../cli/sim/document.js';
import { programLine, type AgentProgram } from '../../workloads/index.js';
import { run } from './command-line.js';
import { ROOT } from './tree.js';

/** As it is built, because threads run from files. */
const { main } = (await import(`${ROOT}dist/cli/program.js`)) as typeof CommandLine;

/** Runs `maitred sim` in this process, on one thread: the start of another takes longer than most runs. */
export const sim = (...args: readonly string[]) =>
  run(['sim', ...args, ...(args.includes('--jobs') ? [] : ['--jobs', '1'])], {}, main);

export async function json(...args: readonly string[]) {
  const { code, out, errors } = await sim(...args, '--json');
  return { code, errors, document: JSON.parse(out) as SimDocument };
}

export const call = { after: [], gapMs: 0, thread: '', promptTokens: 100, outputTokens: 10 };
export const recorded = (id: string, program: Partial<AgentProgram> = {}): string =>
  `${programLine({ id, calls: [call, { ...call, after: [0] }], ...program })}\n`;

/** A run that takes hardly any time. */
export const CHAT = ['--workload', 'chat', '--concurrency', '6', '--programs', '12'];
