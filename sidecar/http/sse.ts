import type { SseEvent } from '../apis/api.js';

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** What to do with an event's bytes. */
export type Verdict = 'forward' | 'hide';

/**
 * Splits a byte stream into server-sent events without changing a byte of it.
 *
 * ```
 *   chunk ──▶ [ bytes of whole events ] ──▶ judged one by one ──▶ forwarded as they came, or left out
 *             [ begun, not yet ended   ] ──▶ held until its blank line comes
 * ```
 *
 * Only whole events leave, so that a stream that breaks never ends in half an event. Lines end with LF, CR LF or CR.
 * A CR that ends a chunk may be half of a CR LF: its event goes out at once, and the LF follows it wherever it went.
 * Cost: one look at each byte; nothing is copied but events that were cut across chunks.
 */
export class SseSplitter {
  /** Chunks of the event that has begun but not ended. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Whether the current line has a byte yet. */
  #lineEmpty = true;
  #lastWasCr = false;
  /** Where the last event's bytes went, for an LF that comes late. */
  #lastVerdict: Verdict = 'forward';

  /** @param judge is told of every event that has data, a name or both; comments are always forwarded. */
  constructor(private readonly judge: (event: SseEvent) => Verdict) {}

  /** Bytes held back because their event has not ended. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Takes a chunk; gives the bytes that may go on, in order. */
  push(chunk: Buffer): Buffer[] {
    const out: Buffer[] = [];
    /** Start of the bytes that are cleared to go but not yet in `out`. */
    let run = 0;
    /** Start of the event being read, in this chunk. */
    let start = 0;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i];
      if (byte === LF && this.#lastWasCr) {
        this.#lastWasCr = false;
        // The second half of a CR LF. If its event has just ended, it belongs to it still.
        if (i !== start || this.#heldBytes > 0) continue;
        if (this.#lastVerdict === 'hide') run = i + 1;
        start = i + 1;
        continue;
      }
      this.#lastWasCr = byte === CR;
      if (byte !== LF && byte !== CR) {
        this.#lineEmpty = false;
        continue;
      }
      if (!this.#lineEmpty) {
        this.#lineEmpty = true;
        continue;
      }
      const bytes = this.#take(chunk.subarray(start, i + 1));
      const wasHeld = bytes.length > i + 1 - start;
      this.#lastVerdict = this.#rule(bytes);
      if (this.#lastVerdict === 'hide') {
        if (start > run) out.push(chunk.subarray(run, start));
        run = i + 1;
      } else if (wasHeld) {
        out.push(bytes);
        run = i + 1;
      }
      start = i + 1;
    }
    if (start > run) out.push(chunk.subarray(run, start));
    if (start < chunk.length) this.#hold(chunk.subarray(start));
    return out;
  }

  /** At the stream's end: judges what is left as an event, for engines that forget the last blank line. */
  end(): Buffer[] {
    const bytes = this.#take(Buffer.alloc(0));
    return bytes.length > 0 && this.#rule(bytes) === 'forward' ? [bytes] : [];
  }

  #hold(part: Buffer): void {
    this.#held.push(part);
    this.#heldBytes += part.length;
  }

  #take(last: Buffer): Buffer {
    if (this.#heldBytes === 0) return last;
    const bytes = Buffer.concat([...this.#held, last]);
    this.#held = [];
    this.#heldBytes = 0;
    return bytes;
  }

  #rule(bytes: Buffer): Verdict {
    const event = readEvent(bytes);
    return event === undefined ? 'forward' : this.judge(event);
  }
}

/** Reads one event's fields; undefined when it has none that matter (comments, `id`, `retry`, blank lines). */
function readEvent(bytes: Buffer): SseEvent | undefined {
  // Nearly every event of every engine is one line "data: ...", LF, LF.
  let start = startsWith(bytes, 0, 'data:') ? 5 : -1;
  const first = firstLineEnd(bytes);
  if (start === 5 && first >= bytes.length - 4 && isOneLine(bytes, first)) {
    if (bytes[start] === SPACE) start++;
    return { data: bytes.toString('utf8', start, first) };
  }
  return readLines(bytes.toString('utf8'));
}

function firstLineEnd(bytes: Buffer): number {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === LF || bytes[i] === CR) return i;
  return bytes.length;
}

function isOneLine(bytes: Buffer, from: number): boolean {
  for (let i = from; i < bytes.length; i++) if (bytes[i] !== LF && bytes[i] !== CR) return false;
  return true;
}

function startsWith(bytes: Buffer, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}

function readLines(text: string): SseEvent | undefined {
  let event: string | undefined;
  let data: string | undefined;
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1);
    if (field === 'event') event = value;
    else if (field === 'data') data = data === undefined ? value : `${data}\n${value}`;
  }
  if (data === undefined) return undefined;
  return event === undefined ? { data } : { event, data };
}

/** An SSE comment: clients ignore it, idle timers along the way do not. */
export function sseComment(text: string): string {
  return `: ${text}\n\n`;
}

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // Asks proxies of nginx's kind not to hold events back.
  'x-accel-buffering': 'no',
} as const;

export function isEventStream(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*text\/event-stream\s*(;|$)/i.test(contentType);
}
