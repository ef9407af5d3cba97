import { HeldRecord, RECORD_BYTES_MAX } from './bytes.js';
import { TraceError, type Place } from './error.js';

const NEWLINE = 0x0a;

/** The text of one record, not yet parsed. */
export interface Piece {
  readonly place: Place;
  readonly text: string;
}

/**
 * The non-empty lines of a file, one at a time, whatever its size. An unreadable line yields an error in its place, and
 * the later lines still follow.
 * @throws TraceError `unreadable` when the file cannot be read (further), as when an archive is cut short.
 */
export async function* splitLines(
  file: string,
  bytes: AsyncIterable<Buffer>,
  lineBytesMax = RECORD_BYTES_MAX,
): AsyncGenerator<Piece | TraceError> {
  const held = new HeldRecord(lineBytesMax);
  let number = 1;

  function* endLine(): Generator<Piece | TraceError> {
    const line = held.take();
    const place = { unit: 'line', number } as const;
    if (!('text' in line)) yield new TraceError(line.code, file, place, '', line.problem);
    else if (line.text.trim() !== '') yield { place, text: line.text };
    number += 1;
  }

  try {
    for await (const chunk of bytes) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        held.add(chunk.subarray(from, at));
        yield* endLine();
        from = at + 1;
      }
      held.add(chunk.subarray(from));
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new TraceError('unreadable', file, { unit: 'line', number }, '', problem);
  }
  yield* endLine();
}
