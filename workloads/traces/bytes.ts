import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

/**
 * Longest record taken, in bytes: eight times the longest of the public sets. One is held at a time, so this bounds
 * what a reader needs of memory.
 */
export const RECORD_BYTES_MAX = 32 * 2 ** 20;

/** The bytes of a file, piece by piece; one that is packed by gzip, by its name or its first bytes, comes unpacked. */
export async function* readBytes(file: string): AsyncGenerator<Buffer> {
  const raw = createReadStream(file);
  try {
    const pieces = raw[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const first = await pieces.next();
    if (first.done === true) return;
    const all = behind([first.value], { [Symbol.asyncIterator]: () => pieces });
    const isPacked = file.endsWith('.gz') || (first.value[0] === 0x1f && first.value[1] === 0x8b);
    // What is wrong on the way comes out of the unpacker; it is destroyed, and the file with it, when nobody reads on.
    yield* isPacked ? (pipeline(all, createGunzip(), () => undefined) as AsyncIterable<Buffer>) : all;
  } finally {
    raw.destroy();
  }
}

/** What was taken from the front of a sequence to look at, and the rest of it. */
export async function* behind<T>(taken: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield* taken;
  yield* rest;
}

/** The bytes of one record while they come in. Of one that is too long only its length is kept. */
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

  /** Its text, or what it is instead; then it is empty for the next one. */
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
