import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';
import { openTrace, TraceError, type AgentProgram, type FormatName } from '../../workloads/index.js';
import { fileOf } from './folder.js';

export interface ReadTrace {
  /** Undefined: the trace could not be opened. */
  readonly format: FormatName | undefined;
  readonly programs: AgentProgram[];
  /** Skipped records, each as `number code field`, with the number of the line or item. */
  readonly problems: string[];
}

export async function readTrace(file: string, format?: FormatName): Promise<ReadTrace> {
  const programs: AgentProgram[] = [];
  const problems: string[] = [];
  const onMalformed = ({ place, code, field }: TraceError) => {
    problems.push([place?.number, code, field].filter((part) => part !== undefined && part !== '').join(' '));
  };
  let found: FormatName | undefined;
  try {
    const trace = await openTrace(file, { format, onMalformed });
    found = trace.format;
    for await (const program of trace.programs) programs.push(program);
  } catch (error) {
    if (!(error instanceof TraceError)) throw error;
    onMalformed(error);
  }
  return { format: found, programs, problems };
}

export const readText = (text: string | Uint8Array, format?: FormatName): Promise<ReadTrace> =>
  readTrace(fileOf('trace', text), format);

/** A copy with the value at a path such as `calls.0.after` changed or removed. */
export function spoilt<T>(record: T, path: string, value: unknown): T {
  const copy = structuredClone(record);
  const keys = path.split('.');
  const last = keys.pop()!;
  const parent = keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], copy);
  (parent as Record<string, unknown>)[last] = value;
  return copy;
}

/** Tests on the public recordings, skipped if these are not beside the repository. */
export function describeRecorded(file: string, tests: (path: string) => void): void {
  const path = fileURLToPath(new URL(`../../../shared/traces/${file}`, import.meta.url));
  describe.skipIf(!existsSync(path))(`the public ${file} (needs ../shared/traces)`, () => tests(path));
}
