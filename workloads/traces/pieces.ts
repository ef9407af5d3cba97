import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** A place in a trace: the line, or the item of the file's list; from 1, empty lines counted. */
export interface Place {
  readonly unit: 'line' | 'item';
  readonly number: number;
}

/**
 * - `unreadable`: the file cannot be read, or not further, as when an archive is cut short
 * - `too_long`, `not_utf8`, `not_json`: an unreadable record
 * - `bad_field`: a field is missing, of the wrong type, or out of range
 * - `empty`: a program without calls, or a file without records
 * - `duplicate`: a program that has the id of an earlier one
 * - `unknown_format`, `wrong_format`: no known format, or not the named one
 */
export type TraceErrorCode =
  | 'unreadable'
  | 'too_long'
  | 'not_utf8'
  | 'not_json'
  | 'bad_field'
  | 'empty'
  | 'duplicate'
  | 'unknown_format'
  | 'wrong_format';

/** A fault of a trace and its place. Without a place the whole file is at fault; without a field, the whole record. */
export class TraceError extends Error {
  override readonly name = 'TraceError';

  constructor(
    readonly code: TraceErrorCode,
    readonly file: string,
    readonly place: Place | undefined,
    readonly field: string,
    problem: string,
  ) {
    const where = place === undefined ? '' : `, ${place.unit} ${place.number}`;
    // Text quoted from a file must not break its line, nor control a terminal.
    super(`${file}${where}${field && `, ${field}`}: ${problem}`.replaceAll(/\p{Cc}+/gu, ' '));
  }
}

/**
 * Longest record accepted, in bytes: eight times the longest of the public sets. A reader holds one record at a time,
 * so this bounds its memory.
 */
const RECORD_BYTES_MAX = 32 * 2 ** 20;

/** The bytes of a file, piece by piece. A gzipped file is unpacked. */
export async function* readBytes(file: string): AsyncGenerator<Buffer> {
  const raw = createReadStream(file);
  try {
    const pieces = raw[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const first = await pieces.next();
    if (first.done === true) return;
    const all = behind([first.value], { [Symbol.asyncIterator]: () => pieces });
    const isPacked = first.value[0] === 0x1f && first.value[1] === 0x8b;
    if (file.endsWith('.gz') && !isPacked) throw new Error('not a gzip file, as its name says');
    yield* isPacked ? unpacked(all) : all;
  } finally {
    raw.destroy();
  }
}

/** Of an archive that is cut or damaged, an error after all that could be unpacked. */
async function* unpacked(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const unpacker = createGunzip();
  try {
    // Errors on the way surface in the unpacker; it is destroyed, and the file with it, when the consumer stops.
    yield* pipeline(bytes, unpacker, () => undefined) as AsyncIterable<Buffer>;
  } catch (error) {
    const rest = unpacker.read() as Buffer | null;
    if (rest !== null) yield rest;
    throw error;
  }
}

/** A sequence of which the first items were already taken. */
export async function* behind<T>(taken: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield* taken;
  yield* rest;
}

/** The bytes of one record while they arrive. For an over-long record only the length is kept. */
class HeldRecord {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(private readonly bytesMax: number) {}

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.bytesMax) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  /** Returns its text or its fault, and empties it for the next record. */
  take(file: string, place: Place): Piece | TraceError {
    const pieces = this.#pieces;
    const isTooLong = this.#bytes > this.bytesMax;
    this.#pieces = [];
    this.#bytes = 0;
    if (isTooLong) return new TraceError('too_long', file, place, '', `longer than ${this.bytesMax} bytes`);
    try {
      return { place, text: this.#decoder.decode(Buffer.concat(pieces)) };
    } catch {
      return new TraceError('not_utf8', file, place, '', 'not UTF-8');
    }
  }
}

const NEWLINE = 0x0a;

export interface Piece {
  readonly place: Place;
  readonly text: string;
}

/**
 * The non-empty lines of a file, one at a time, whatever its size. An unreadable line yields an error in its place, and
 * the later lines still follow.
 */
export async function* splitLines(
  file: string,
  bytes: AsyncIterable<Buffer>,
  lineBytesMax = RECORD_BYTES_MAX,
): AsyncGenerator<Piece | TraceError> {
  const held = new HeldRecord(lineBytesMax);
  let number = 1;

  function* endLine(): Generator<Piece | TraceError> {
    const line = held.take(file, { unit: 'line', number });
    if (line instanceof TraceError || line.text.trim() !== '') yield line;
    number += 1;
  }

  for await (const chunk of bytes) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      held.add(chunk.subarray(from, at));
      yield* endLine();
      from = at + 1;
    }
    held.add(chunk.subarray(from));
  }
  yield* endLine();
}

const [QUOTE, BACKSLASH, COMMA, LIST, LIST_END, OBJECT, OBJECT_END] = Buffer.from('"\\,[]{}');

/**
 * The items of a file that is one JSON list, one at a time, whatever its size. Only brackets and strings are scanned
 * here. So a malformed or over-long item is reported in its place, and the others still follow. A file that ends before
 * its list does ends with an error.
 */
export async function* splitItems(
  file: string,
  bytes: AsyncIterable<Buffer>,
  itemBytesMax = RECORD_BYTES_MAX,
): AsyncGenerator<Piece | TraceError> {
  const held = new HeldRecord(itemBytesMax);
  let number = 1;
  /** Open brackets; -1 once the list is closed. */
  let depth = 0;
  let inString = false;
  let isEscaped = false;

  const fault = (problem: string) => new TraceError('not_json', file, { unit: 'item', number }, '', problem);

  function* endItem(): Generator<Piece | TraceError> {
    const item = held.take(file, { unit: 'item', number });
    // Empty text is a missing item, except in an empty list.
    if (item instanceof TraceError || item.text.trim() !== '' || depth > 0 || number > 1) yield item;
    number += 1;
  }

  for await (const chunk of bytes) {
    let from = 0;
    for (let at = 0; at < chunk.length && depth >= 0; at += 1) {
      const byte = chunk[at];
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === LIST || byte === OBJECT) {
        depth += 1;
        // The list's own bracket, and any text before it, belong to no item.
        if (depth === 1) from = at + 1;
      } else if (byte === LIST_END || byte === OBJECT_END) depth -= 1;
      const isEnd = byte === COMMA ? depth === 1 && !inString : depth === 0 && byte === LIST_END;
      if (!isEnd) continue;
      held.add(chunk.subarray(from, at));
      from = at + 1;
      yield* endItem();
      if (depth === 0) depth = -1;
    }
    if (depth >= 0) held.add(chunk.subarray(from));
    else if (chunk.subarray(from).toString().trim() !== '') {
      yield fault('more behind the list');
      return;
    }
  }
  if (depth >= 0) yield fault('the file ends before its list does');
}
