import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

/**
 * Longest record accepted, in bytes: eight times the longest of the public sets. A reader holds one record at a time,
 * so this bounds its memory.
 */
export const RECORD_BYTES_MAX = 32 * 2 ** 20;

/** The bytes of a file, piece by piece. A gzipped file, by its name or first bytes, is unpacked. */
export async function* readBytes(file: string): AsyncGenerator<Buffer> {
  const raw = createReadStream(file);
  try {
    const pieces = raw[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const first = await pieces.next();
    if (first.done === true) return;
    const all = behind([first.value], { [Symbol.asyncIterator]: () => pieces });
    const isPacked = file.endsWith('.gz') || (first.value[0] === 0x1f && first.value[1] === 0x8b);
    // Errors on the way surface in the unpacker; it is destroyed, and the file with it, when the consumer stops.
    yield* isPacked ? (pipeline(all, createGunzip(), () => undefined) as AsyncIterable<Buffer>) : all;
  } finally {
    raw.destroy();
  }
}

/** A sequence of which the first items were already taken. */
export async function* behind<T>(taken: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield* taken;
  yield* rest;
}

/** The bytes of one record while they arrive. For an over-long record only the length is kept. */
export class HeldRecord {
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
  take(): { readonly text: string } | { readonly code: 'too_long' | 'not_utf8'; readonly problem: string } {
    const pieces = this.#pieces;
    const isTooLong = this.#bytes > this.bytesMax;
    this.#pieces = [];
    this.#bytes = 0;
    if (isTooLong) return { code: 'too_long', problem: `longer than ${this.bytesMax} bytes` };
    try {
      return { text: this.#decoder.decode(Buffer.concat(pieces)) };
    } catch {
      return { code: 'not_utf8', problem: 'not UTF-8' };
    }
  }
}
