import type { Command } from 'commander';
import type { AgentCall, AgentProgram, FormatName } from '../workloads/index.js';
import { complain, openTraceFile, type Faults } from './trace-file.js';

/** Calls and ids of KV blocks held of a recording, in all: some 500 MB. */
const HELD_MAX = 4_000_000;
/** Characters of what is said that take as much as one of these. */
const CHARACTERS = 128;

/** What is wanted of a recording: lengths alone, or what is said too. */
export type Kept = 'lengths' | 'words';

export interface ReadingOptions {
  /** Absent: the one that its records look like. */
  readonly format?: FormatName | undefined;
  readonly kept: Kept;
  /** Ends the reading where it is. */
  readonly signal?: AbortSignal | undefined;
}

export interface Recording {
  readonly type: 'trace';
  readonly file: string;
  readonly format: FormatName;
  /** In their order in the file. */
  readonly programs: readonly AgentProgram[];
}

/**
 * Reads a recording into memory: each run takes its programs from all over it. One that is larger than can be held is
 * taken as far as that goes, which is told.
 */
export async function readRecording(
  command: Command,
  file: string,
  { format, kept, signal }: ReadingOptions,
  faults: Faults,
): Promise<Recording> {
  const trace = await openTraceFile(command, file, format, faults);
  const programs: AgentProgram[] = [];
  let held = 0;
  for await (const program of trace.programs) {
    if (signal?.aborted) break;
    if (held > HELD_MAX) {
      complain(`${file}: larger than can be held; its first ${programs.length} programs are taken`);
      break;
    }
    const calls = kept === 'words' ? program.calls : program.calls.map(lengthsOf);
    programs.push({ ...program, calls });
    held += calls.reduce((sum, call) => sum + sizeOf(call), 0);
  }
  return { type: 'trace', file, format: trace.format, programs };
}

function lengthsOf({ after, gapMs, thread, promptTokens, outputTokens, prefix, tools }: AgentCall): AgentCall {
  const names = tools?.map(({ name }) => ({ name }));
  return {
    after,
    gapMs,
    thread,
    promptTokens,
    outputTokens,
    ...(prefix && { prefix }),
    ...(names && { tools: names }),
  };
}

function sizeOf({ prefix, messages = [], answer = '' }: AgentCall): number {
  const characters = messages.reduce((sum, { content }) => sum + content.length, answer.length);
  return 1 + (prefix && 'blocks' in prefix ? prefix.blocks.length : 0) + characters / CHARACTERS;
}
