import { vi } from 'vitest';
import { main } from '../../cli/program.js';
import type { SimDocument } from '../../cli/sim/document.js';
import { programLine, type AgentProgram } from '../../workloads/index.js';
import { Maitred } from './maitred.js';

/** Runs `maitred sim` as installed. Returns its exit code and output. */
export async function sim(...args: readonly string[]) {
  const maitred = new Maitred(['sim', ...args]);
  const code = await maitred.ended;
  return { code, out: maitred.stdout, errors: maitred.stderr.split('\n').filter((line) => line !== '') };
}

/** The same in this process, for commands that fail before a run begins. */
export async function refused(...args: readonly string[]) {
  let out = '';
  let err = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
  try {
    const code = await main(['node', 'maitred', 'sim', ...args]);
    return { code, out, errors: err.split('\n').filter((line) => line !== '') };
  } finally {
    vi.restoreAllMocks();
  }
}

export async function json(...args: readonly string[]) {
  const { code, out, errors } = await sim(...args, '--json');
  return { code, errors, document: JSON.parse(out) as SimDocument };
}

export const call = { after: [], gapMs: 0, thread: '', promptTokens: 100, outputTokens: 10 };
export const recorded = (id: string, program: Partial<AgentProgram> = {}): string =>
  `${programLine({ id, calls: [call, { ...call, after: [0] }], ...program })}\n`;

/** A run that takes hardly any time. */
export const CHAT = ['--workload', 'chat', '--rate', '2', '--programs', '12'];
