import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openTrace, TraceError, type AgentCall, type AgentProgram, type FormatName } from '../../workloads/index.js';
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

/** A call as readers give it where nothing more is known. */
export const callOf = (rest: Partial<AgentCall> & Pick<AgentCall, 'promptTokens' | 'outputTokens'>): AgentCall => ({
  after: [],
  gapMs: 0,
  thread: '',
  ...rest,
});

/** Reads a text of this format. @throws if a record of it was skipped */
export async function readWhole(text: string | Uint8Array, format: FormatName): Promise<AgentProgram[]> {
  const { programs, ...rest } = await readText(text);
  expect(rest).toEqual({ format, problems: [] });
  return programs;
}

/** The middle one of three records, with one value changed, is left out and told; the others are read. */
export function itLeavesOut<T extends object>(
  cases: readonly (readonly [path: string, value: unknown, problem?: string])[],
  records: readonly [T, T, T],
  write: (records: readonly T[]) => string,
): void {
  it.for(cases)('with %s of %j is left out, and told', async ([path, value, problem]) => {
    const [first, bad, last] = records;
    const { programs, problems } = await readText(write([first, spoilt(bad, path, value), last]));
    expect(problems).toEqual([`2 ${problem ?? `bad_field ${path}`}`]);
    expect(programs).toEqual((await readText(write([first, last]))).programs);
  });
}

/** Tests on the public recordings, skipped if these are not beside the repository. */
export function describeRecorded(file: string, tests: (path: string) => void): void {
  const path = fileURLToPath(new URL(`../../../shared/traces/${file}`, import.meta.url));
  describe.skipIf(!existsSync(path))(`the public ${file} (needs ../shared/traces)`, () => tests(path));
}

export function itReadsRecorded(
  format: FormatName,
  file: string,
  check: (programs: AgentProgram[], calls: AgentCall[], path: string) => void,
): void {
  describeRecorded(file, (path) => {
    it('is read whole', async () => {
      const { programs, ...rest } = await readTrace(path);
      expect(rest).toEqual({ format, problems: [] });
      const calls = programs.flatMap((program) => program.calls);
      check(programs, calls, path);
    });
  });
}
