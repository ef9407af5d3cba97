import type { z } from 'zod';
import { issueText } from '../issue-text.js';
import {
  behind,
  readBytes,
  splitItems,
  splitLines,
  TraceError,
  type Piece,
  type Place,
  type TraceErrorCode,
} from './pieces.js';
import type { AgentProgram } from '../program.js';

/** One record of a trace: JSON, or a row of a table as an object of texts. */
export class TraceRecord {
  constructor(
    private readonly file: string,
    readonly place: Place,
    readonly value: unknown,
  ) {}

  /** Makes an error of this record. @param field the path to it, such as `calls.3.gapMs` */
  fault(field: string, problem: string, code: TraceErrorCode = 'bad_field'): TraceError {
    return new TraceError(code, this.file, this.place, field, problem);
  }
}

/** A program, and the record that it was read from (the last of several). */
export interface Found {
  readonly program: AgentProgram;
  readonly record: TraceRecord;
}

/** Makes programs of records. Unusable records become errors, and reading goes on. */
export type Reader = (records: AsyncIterable<TraceRecord | TraceError>) => AsyncIterable<Found | TraceError>;

/** Reads programs of one record each. */
export function oneEach<T>(
  schema: z.ZodType<T>,
  make: (value: T, record: TraceRecord) => AgentProgram | TraceError,
): Reader {
  return async function* (records) {
    for await (const record of records) {
      if (record instanceof TraceError) {
        yield record;
        continue;
      }
      const read = checked(record.value, schema);
      const program = 'problem' in read ? record.fault(read.field, read.problem) : make(read.value, record);
      yield program instanceof TraceError ? program : { program, record };
    }
  };
}

/**
 * The records of a file, one at a time. A file that starts with a bracket is a list of items; one that starts with
 * names and commas is a table of rows; any other has lines of JSON. An invalid record yields an error in its place,
 * and what cannot be read further one at its end.
 * @throws TraceError `unreadable` when the file cannot be read at all.
 */
export async function* readRecords(file: string): AsyncGenerator<TraceRecord | TraceError> {
  let columns: string[] | undefined;
  let last: Place | undefined;
  try {
    const { isList, bytes } = await lookAt(readBytes(file));
    for await (const piece of isList ? splitItems(file, bytes) : splitLines(file, bytes)) {
      if (piece instanceof TraceError) yield piece;
      else if (last === undefined && HEADER.test(piece.text.trim())) columns = cells(piece.text);
      else yield columns === undefined ? readJson(file, piece) : readRow(file, piece, columns);
      if (piece.place !== undefined) last = piece.place;
    }
  } catch (error) {
    if (last === undefined) throw unreadable(file, error);
    yield unreadable(file, error, { ...last, number: last.number + 1 });
  }
}

function unreadable(file: string, error: unknown, place?: Place): TraceError {
  const { code, message } = error as NodeJS.ErrnoException;
  const problem = code === 'Z_BUF_ERROR' ? 'the archive ends early' : message;
  return new TraceError('unreadable', file, place, '', problem);
}

/** The first line of a table: two names or more, and commas. */
const HEADER = /^\w+(,\w+)+$/;

/** Pieces of mere white space skipped in search of the first bracket. */
const BLANK_MAX = 64;

async function lookAt(all: AsyncGenerator<Buffer>): Promise<{ isList: boolean; bytes: AsyncIterable<Buffer> }> {
  const taken: Buffer[] = [];
  let text = '';
  while (text === '' && taken.length < BLANK_MAX) {
    const next = await all.next();
    if (next.done === true) break;
    taken.push(next.value);
    // The decoder drops a byte order mark at the start of the file.
    text = new TextDecoder().decode(next.value).trimStart();
  }
  return { isList: text.startsWith('['), bytes: behind(taken, all) };
}

function readJson(file: string, { place, text }: Piece): TraceRecord | TraceError {
  try {
    return new TraceRecord(file, place, JSON.parse(text));
  } catch (error) {
    return new TraceError('not_json', file, place, '', (error as SyntaxError).message);
  }
}

function readRow(file: string, { place, text }: Piece, columns: readonly string[]): TraceRecord | TraceError {
  const values = cells(text);
  if (values.length === columns.length) {
    return new TraceRecord(file, place, Object.fromEntries(columns.map((column, index) => [column, values[index]])));
  }
  const problem = `${values.length} fields where the first line has ${columns.length}`;
  return new TraceError('bad_field', file, place, columns[values.length] ?? '', problem);
}

const cells = (text: string) => text.trim().split(',');

/** A fault of a value: the path to it, '' for the whole, and the problem. */
export interface Fault {
  readonly field: string;
  readonly problem: string;
}

/** The value as the schema reads it, or its most telling fault. */
export function checked<T>(value: unknown, schema: z.ZodType<T>): { readonly value: T } | Fault {
  let result: z.ZodSafeParseResult<T>;
  try {
    result = schema.safeParse(value, { reportInput: true });
  } catch (error) {
    // Nested values, such as sub-agents, may be nested thousands of times.
    if (error instanceof RangeError) return { field: '', problem: 'nested too deep' };
    throw error;
  }
  if (result.success) return { value: result.data };
  const { path, message } = firstIssue(result.error.issues);
  return { field: path.join('.'), problem: message };
}

/**
 * The most telling issue: an unknown key, which may be a misspelled missing one. For a field with several possible
 * shapes, the issue of the nearest shape.
 */
function firstIssue(issues: readonly z.core.$ZodIssue[]): { path: PropertyKey[]; message: string } {
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (issue?.code === 'invalid_union' && issue.errors.length > 0 && issue.input !== undefined) {
    const nearest = issue.errors.reduce((best, each) => (each.length < best.length ? each : best));
    const { path, message } = firstIssue(nearest);
    return { path: [...issue.path, ...path], message };
  }
  if (issue?.code === 'unrecognized_keys')
    return { path: [...issue.path, issue.keys[0] ?? ''], message: 'is not a known key' };
  return { path: issue?.path ?? [], message: issue === undefined ? 'malformed' : issueText(issue) };
}
