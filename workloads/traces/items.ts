import { HeldRecord, RECORD_BYTES_MAX } from './bytes.js';
import { TraceError } from './error.js';
import type { Piece } from './lines.js';

const [QUOTE, BACKSLASH, COMMA, LIST, LIST_END, OBJECT, OBJECT_END] = Buffer.from('"\\,[]{}');

/**
 * The items of a file that is one JSON list, one at a time, whatever its size. Only brackets and strings are scanned
 * here. So a malformed or over-long item is reported in its place, and the others still follow. A file that ends before
 * its list does ends with an error.
 * @throws TraceError `unreadable` when the file cannot be read (further), as when an archive is cut short.
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

  const fault = (code: 'unreadable' | 'not_json', problem: string) =>
    new TraceError(code, file, { unit: 'item', number }, '', problem);

  function* endItem(): Generator<Piece | TraceError> {
    const item = held.take();
    const place = { unit: 'item', number } as const;
    if (!('text' in item)) yield new TraceError(item.code, file, place, '', item.problem);
    // Empty text is a missing item, except in an empty list.
    else if (item.text.trim() !== '' || depth > 0 || number > 1) yield { place, text: item.text };
    number += 1;
  }

  try {
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
        yield fault('not_json', 'more behind the list');
        return;
      }
    }
  } catch (error) {
    throw fault('unreadable', error instanceof Error ? error.message : String(error));
  }
  if (depth >= 0) yield fault('not_json', 'the file ends before its list does');
}
