import type { Command } from 'commander';
import type { AgentCall, AgentProgram, FormatName } from '../../workloads/index.js';
import { complain } from '../complain.js';
import { openTraceFile, type Faults } from '../trace-file.js';

/** Most calls and KV block ids held of a recording, together: some 500 MB. */
const HELD_MAX = 4_000_000;
/** Characters of text that take as much memory as one of these. */
const CHARACTERS = 128;

/** The parts of a recording to keep: lengths alone, or texts too. */
export type Kept = 'lengths' | 'words';

interface ReadingOptions {
  /** Absent: the format that its records look like. */
  readonly format?: FormatName | undefined;
  readonly kept: Kept;
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
 * Reads a recording into memory, since each run takes programs from all over it. A recording too large for memory is
 * cut, with a warning.
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

function lengthsOf({ after, gapMs, thread, promptTokens, outputTokens, prefix }: AgentCall): AgentCall {
  return { after, gapMs, thread, promptTokens, outputTokens, ...(prefix && { prefix }) };
}

function sizeOf({ prefix, messages = [], answer = '' }: AgentCall): number {
  const characters = messages.reduce((sum, { content }) => sum + content.length, answer.length);
  return 1 + (prefix && 'blocks' in prefix ? prefix.blocks.length : 0) + characters / CHARACTERS;
}
