import { behind } from './bytes.js';
import { TraceError } from './error.js';
import { FORMAT_NAMES, formatOf, FORMATS, type FormatName } from './formats.js';
import type { AgentProgram } from '../program.js';
import { readRecords, TraceRecord, type Reader } from './records.js';

/** Records examined to find the format. */
const LOOKED_AT_MAX = 8;
/** Ids remembered, to detect duplicates. */
const IDS_MAX = 1_000_000;

export interface TraceOptions {
  /** Absent: the format that its records look like. */
  readonly format?: FormatName | undefined;
  /**
   * Receives everything unusable, which is then skipped: a record, or the rest of a file that cannot be read further.
   * Absent: the error is thrown.
   */
  readonly onMalformed?: (error: TraceError) => void;
}

export interface Trace {
  readonly format: FormatName;
  /** Can be read once, to the end or as far as wanted. Only one record is in memory at a time. */
  readonly programs: AsyncGenerator<AgentProgram, void>;
}

/**
 * Opens a trace of any format: a recording, or one of our own; plain or gzipped.
 * @throws TraceError `unreadable` when it cannot be read; `empty` when it has no record; `unknown_format` when its
 * records match no format; `wrong_format` when they match another format than the named one.
 */
export async function openTrace(file: string, options: TraceOptions = {}): Promise<Trace> {
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
  if (taken.length === 0) throw new TraceError('empty', file, undefined, '', 'nothing in it');
  if (format === undefined) {
    await records.return(undefined);
    const [first] = taken;
    const known = `no record in a known format (${FORMAT_NAMES.join(', ')})`;
    throw new TraceError(
      'unknown_format',
      file,
      undefined,
      '',
      first instanceof TraceError ? `${known}; ${first.message}` : known,
    );
  }
  if (found !== undefined && found !== format) {
    await records.return(undefined);
    throw new TraceError('wrong_format', file, undefined, '', `not ${format}: it looks like ${found}`);
  }
  return { format, programs: readPrograms(FORMATS[format].read(behind(taken, records)), options) };
}

async function* readPrograms(
  results: ReturnType<Reader>,
  { onMalformed = raise }: TraceOptions,
): AsyncGenerator<AgentProgram, void> {
  const ids = new Set<string>();
  try {
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
  } catch (error) {
    if (!(error instanceof TraceError) || error.code !== 'unreadable' || onMalformed === raise) throw error;
    onMalformed(error);
  }
}

function raise(error: TraceError): never {
  throw error;
}
