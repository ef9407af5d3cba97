import { agentCgroup } from './agentcgroup.js';
import { azure, mooncake } from './requests.js';
import { eventLog } from './event-log.js';
import { maitred } from './maitred.js';
import { miniSweAgent } from './mini-swe-agent.js';
import { type Reader, readRecords, TraceRecord } from './records.js';
import { tauBench } from './tau-bench.js';
import { weka } from './weka.js';
import { behind, TraceError, type TraceErrorCode } from './pieces.js';
import type { AgentProgram } from '../program.js';

/** Every readable format, with keys that no other format's records have all of. The default is the first that fits. */
const FORMATS = {
  maitred: { keys: ['maitredProgram'], read: maitred },
  'event-log': { keys: ['maitredEventLog'], read: eventLog },
  weka: { keys: ['requests', 'block_size'], read: weka },
  'mini-swe-agent': { keys: ['messages', 'instance_id'], read: miniSweAgent },
  agentcgroup: { keys: ['session', 'calls'], read: agentCgroup },
  'tau-bench': { keys: ['traj', 'task_id'], read: tauBench },
  mooncake: { keys: ['input_length', 'hash_ids'], read: mooncake },
  azure: { keys: ['TIMESTAMP', 'ContextTokens', 'GeneratedTokens'], read: azure },
} as const satisfies Record<string, { readonly keys: readonly string[]; readonly read: Reader }>;

export type FormatName = keyof typeof FORMATS;
export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];

/** The format that a record looks like; undefined: none of them. */
function formatOf(record: unknown): FormatName | undefined {
  if (typeof record !== 'object' || record === null) return undefined;
  return FORMAT_NAMES.find((name) => FORMATS[name].keys.every((key) => Object.hasOwn(record, key)));
}

/** Records examined to find the format. */
const LOOKED_AT_MAX = 8;
/** Ids remembered, to detect duplicates. */
const IDS_MAX = 1_000_000;

interface TraceOptions {
  /** Absent: the format that its records look like. */
  readonly format?: FormatName | undefined;
  /**
   * Receives everything unusable, which is then skipped: a record, or the rest of a file that cannot be read further.
   * Absent: the error is thrown.
   */
  readonly onMalformed?: (error: TraceError) => void;
}

/**
 * Opens a trace of any format: a recording, or one of our own; plain or gzipped.
 * @throws TraceError `unreadable` when it cannot be read; `empty` when it has no record; `unknown_format` when its
 * records match no format; `wrong_format` when they match another format than the named one.
 */
export async function openTrace(file: string, options: TraceOptions = {}) {
  const records = readRecords(file);
  const taken: (TraceRecord | TraceError)[] = [];
  let found: FormatName | undefined;
  while (found === undefined && taken.length < LOOKED_AT_MAX) {
    const next = await records.next();
    if (next.done === true) break;
    taken.push(next.value);
    if (next.value instanceof TraceRecord) found = formatOf(next.value.value);
  }
  const format = options.format ?? found;
  const fault = (code: TraceErrorCode, problem: string) => new TraceError(code, file, undefined, '', problem);
  if (taken.length === 0) throw fault('empty', 'nothing in it');
  if (format === undefined) {
    await records.return(undefined);
    const [first] = taken;
    if (first instanceof TraceRecord && isBatchLine(first.value))
      throw fault('unknown_format', 'a batch of calls, not programs: the command `batch run` sends it');
    const known = `no record in a known format (${FORMAT_NAMES.join(', ')}; docs/JSON.md has our own)`;
    throw fault('unknown_format', first instanceof TraceError ? `${known}; ${first.message}` : known);
  }
  if (found !== undefined && found !== format) {
    await records.return(undefined);
    throw fault('wrong_format', `not ${format}: it looks like ${found}`);
  }
  // Can be read once, to the end or as far as wanted. Only one record is in memory at a time.
  return { format, programs: readPrograms(FORMATS[format].read(behind(taken, records)), options) };
}

const isBatchLine = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'custom_id' in value && 'body' in value;

async function* readPrograms(
  results: ReturnType<Reader>,
  { onMalformed = raise }: TraceOptions,
): AsyncGenerator<AgentProgram, void> {
  const ids = new Set<string>();
  for await (const result of results) {
    if (result instanceof TraceError) {
      onMalformed(result);
      continue;
    }
    const { program, record } = result;
    if (program.calls.length === 0) onMalformed(record.fault('', `${program.id} has no calls`, 'empty'));
    else if (ids.has(program.id)) onMalformed(record.fault('', `${program.id} was there before`, 'duplicate'));
    else {
      if (ids.size < IDS_MAX) ids.add(program.id);
      yield program;
    }
  }
}

function raise(error: TraceError): never {
  throw error;
}
