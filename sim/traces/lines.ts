import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';

/** Longest line taken, in bytes: forty times the longest of the public sets. */
const LINE_BYTES_MAX = 32 * 2 ** 20;
const NEWLINE = 0x0a;

/** What is wrong with a trace file, and where: `field` is empty for what is wrong with the line or the file as a whole. */
export class TraceError extends Error {
  override readonly name = 'TraceError';

  constructor(
    readonly code: 'unreadable' | 'too_long' | 'not_utf8' | 'not_json' | 'bad_field',
    readonly file: string,
    /** From 1. */
    readonly line: number,
    readonly field: string,
    problem: string,
  ) {
    super(`${file}, line ${line}${field && `, ${field}`}: ${problem}`);
  }
}

export interface Line {
  /** From 1, empty ones counted. */
  readonly number: number;
  readonly text: string;
}

/**
 * The lines of a file that are not empty, one at a time, whatever its size; a name that ends in `.gz` is unpacked.
 * What cannot be read as a line comes as an error in its place, and the lines after it still follow.
 * @throws TraceError `unreadable` when the file cannot be read (further), as when an archive is cut short.
 */
export async function* readLines(file: string, lineBytesMax = LINE_BYTES_MAX): AsyncGenerator<Line | TraceError> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let number = 1;
  let held: Buffer[] = [];
  let heldBytes = 0;

  function* endLine(): Generator<Line | TraceError> {
    if (heldBytes > lineBytesMax) {
      yield new TraceError('too_long', file, number, '', `longer than ${lineBytesMax} bytes`);
    } else {
      let text: string | undefined;
      try {
        text = decoder.decode(Buffer.concat(held));
      } catch {
        yield new TraceError('not_utf8', file, number, '', 'not UTF-8');
      }
      if (text !== undefined && text.trim() !== '') yield { number, text };
    }
    number += 1;
    held = [];
    heldBytes = 0;
  }

  const raw = createReadStream(file);
  const stream = file.endsWith('.gz') ? raw.pipe(createGunzip()) : raw;
  // A pipe passes data on, not errors.
  if (stream !== raw) raw.on('error', (error) => stream.destroy(error));
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        hold(chunk.subarray(from, at));
        yield* endLine();
        from = at + 1;
      }
      hold(chunk.subarray(from));
    }
  } catch (error) {
    throw new TraceError('unreadable', file, number, '', error instanceof Error ? error.message : String(error));
  } finally {
    raw.destroy();
  }
  if (heldBytes > 0) yield* endLine();

  /** Of a line that is too long only its length is kept. */
  function hold(piece: Buffer): void {
    heldBytes += piece.length;
    if (heldBytes > lineBytesMax) held = [];
    else if (piece.length > 0) held.push(piece);
  }
}
