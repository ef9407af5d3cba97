import { createParser } from 'eventsource-parser';
import type { SseEvent } from '../apis/api.js';

const LF = 0x0a;
const CR = 0x0d;
const MARK = 0xfeff;

type Verdict = 'forward' | 'hide';

/**
 * Splits a byte stream into server-sent events without changing a byte.
 *
 * ```
 *   chunk ──▶ [ bytes of whole events ] ──▶ judged one by one ──▶ forwarded as they came, or left out
 *             [ begun, not yet ended   ] ──▶ held until its blank line comes
 * ```
 *
 * Only whole events leave, so a broken stream never ends in half an event. Lines end with LF or CR LF; no engine sends
 * the lone CR of the standard. Cost: a search for line ends; only events that span chunks are copied.
 */
export class SseSplitter {
  /** Chunks of the event that is still open. */
  #held: Buffer[] = [];
  heldBytes = 0;
  /** The earlier chunks' part of the current line: nothing, a CR alone, or more. */
  #line: 'empty' | 'cr' | 'full' = 'empty';
  /** On the bytes under judgement: with lone CRs they may be several events, of which one to forward keeps all. */
  readonly #verdicts: Verdict[] = [];
  readonly #parser = createParser({ onEvent: (event) => this.#verdicts.push(this.judge(event)) });

  /** @param judge called for every event with data; all others are always forwarded */
  constructor(private readonly judge: (event: SseEvent) => Verdict) {}

  push(chunk: Buffer): Buffer[] {
    const out: Buffer[] = [];
    /** Start of the cleared bytes that are not yet in `out`. */
    let run = 0;
    /** Start of the current event in this chunk. */
    let start = 0;
    /** Index after the last line end. */
    let line = 0;
    for (let i = chunk.indexOf(LF); i >= 0; i = chunk.indexOf(LF, line)) {
      const isEmpty =
        i === line ? this.#line !== 'full' : this.#line === 'empty' && i === line + 1 && chunk[line] === CR;
      line = i + 1;
      this.#line = 'empty';
      if (!isEmpty) continue;
      const bytes = this.#take(chunk.subarray(start, line));
      const wasHeld = bytes.length > line - start;
      if (this.#rule(bytes) === 'hide') {
        if (start > run) out.push(chunk.subarray(run, start));
        run = line;
      } else if (wasHeld) {
        out.push(bytes);
        run = line;
      }
      start = line;
    }
    if (line < chunk.length)
      this.#line = this.#line === 'empty' && line + 1 === chunk.length && chunk[line] === CR ? 'cr' : 'full';
    if (start > run) out.push(run === 0 && start === chunk.length ? chunk : chunk.subarray(run, start));
    if (start < chunk.length) this.#held.push(chunk.subarray(start));
    this.heldBytes += chunk.length - start;
    return out;
  }

  /** Ends the stream: judges the rest as an event, because some engines omit the last blank line. */
  end(): Buffer[] {
    const bytes = this.#take(Buffer.alloc(0));
    return bytes.length > 0 && this.#rule(bytes, '\n\n') === 'forward' ? [bytes] : [];
  }

  #take(last: Buffer): Buffer {
    if (this.heldBytes === 0) return last;
    const bytes = Buffer.concat([...this.#held, last]);
    this.#held = [];
    this.heldBytes = 0;
    return bytes;
  }

  #rule(bytes: Buffer, end = ''): Verdict {
    this.#verdicts.length = 0;
    const text = bytes.toString();
    // Before each line the parser looks for the next CR, however far away. Nearly no event has one, or a mark.
    const isPlain = text.charCodeAt(0) !== MARK && !text.includes('\r');
    this.#parser.feed((isPlain ? text : text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n')) + end);
    return this.#verdicts.includes('hide') && !this.#verdicts.includes('forward') ? 'hide' : 'forward';
  }
}

/** Clients ignore a comment, and it keeps idle timers on the path from expiring. */
export const sseComment = (text: string): string => `: ${text}\n\n`;

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // Tells nginx-like proxies not to hold events back.
  'x-accel-buffering': 'no',
} as const;

export const isEventStream = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^\s*text\/event-stream\s*(;|$)/i.test(contentType);
