import { PLAIN, apiOf, endOf, marksIn, sourcesIn, tenantOf } from './answers.js';
import { Book } from './book.js';
import type { Heard } from './clients.js';
import type { Served } from './engines.js';

/** A line of the gateway's log. */
export type LogLine = Readonly<Record<string, unknown>> & {
  readonly msg: string;
  readonly status?: number;
  readonly code?: string;
  readonly outcome?: string;
  readonly engine?: string;
};

/** What the gateway may take for things, in milliseconds of the world. */
export interface Bounds {
  /** Between two bytes of an open stream, comments included. */
  readonly silenceMs: number;
  /** A reader who takes nothing for so long may be given up. */
  readonly idleMs: number;
  /** At its end the gateway waits no longer for the last bytes to be taken. */
  readonly closeMs: number;
  /** From the last byte of a request whose client waits for a whole answer, to its end. */
  readonly wholeMs: number;
}

/**
 * Knows what the gateway has taken in, sent and said from what passes its borders alone: the scheduler's events and
 * commands, the log, clients and engines. Says what is wrong, once for each sentence.
 */
export class Oracle {
  readonly wrongs: string[] = [];
  readonly book: Book;
  readonly accepted = new Map<string, LogLine>();
  readonly heard: Heard[] = [];
  /** Lines about calls that were refused. */
  refused = 0;
  readonly #lines = new Map<string, LogLine[]>();
  readonly #served = new Map<string, Served[]>();
  /** Of these, the ones that engines may still work on. */
  readonly #live = new Set<Served>();

  constructor(
    private readonly now: () => number,
    private readonly say: (text: string) => void,
  ) {
    this.book = new Book(say, (text) => this.wrong(text));
  }

  wrong(text: string): void {
    if (this.wrongs.includes(text)) return;
    this.wrongs.push(text);
    this.say(`WRONG: ${text}`);
  }

  /** The gateway wrote a line. */
  logged(line: LogLine): void {
    if (line.msg === 'invariant broken: a fault in maitred') this.wrong(`G9: ${String(line['invariant'])}`);
    if (line.msg === 'request failed') this.wrong(`G9: the gateway failed: ${JSON.stringify(line['err'])}`);
    const isCall =
      line['call'] !== undefined || (line['method'] === 'POST' && apiOf(String(line['path'])) !== undefined);
    if (isCall && (line.msg === 'refused' || line.msg === 'request failed')) this.refused += 1;
    if (line.msg !== 'call' && line.msg !== 'refused' && line.msg !== 'passed through') return;
    const rid = String(line['request_id']);
    const lines = this.#lines.get(rid) ?? [];
    lines.push(line);
    this.#lines.set(rid, lines);
    this.say(`log: ${rid} ${line.msg} ${line.status ?? ''} ${line.outcome ?? line.code ?? ''}`);
    if (line.msg !== 'call') return;
    if (this.accepted.has(rid)) this.wrong(`G1: ${rid} is told to have ended twice`);
    this.accepted.set(rid, line);
  }

  /** An engine has a request. */
  began(served: Served): void {
    if (!isHeld(served)) return;
    const before = this.#served.get(served.rid) ?? [];
    if (before.some(isHeld)) this.wrong(`G3: ${served.rid} is at ${served.engine.id} while another engine works on it`);
    if (this.accepted.has(served.rid)) this.wrong(`G3: ${served.rid} is sent to ${served.engine.id} after its end`);
    this.#served.set(served.rid, [...before, served]);
    this.#live.add(served);
  }

  /** After every step, when nothing more happens by itself. */
  check(): void {
    const working = new Map<string, number>();
    for (const served of this.#live) {
      if (!isHeld(served)) {
        this.#live.delete(served);
        continue;
      }
      const { engine, path, rid } = served;
      const isCall = apiOf(path) !== undefined;
      const over = isCall
        ? this.accepted.has(rid)
        : this.linesOf(rid).some((line) => line.msg === 'passed through' && line.engine === engine.id);
      if (over) this.wrong(`G4: ${rid} has ended, and its engine has not been let go`);
      if (isCall) working.set(engine.id, (working.get(engine.id) ?? 0) + 1);
    }
    for (const [engine, count] of working)
      if (count > this.book.running(engine))
        this.wrong(`G4: ${engine} runs ${count} calls, more than the scheduler counts`);
  }

  /** Lines about a request. */
  linesOf(rid: string): readonly LogLine[] {
    return this.#lines.get(rid) ?? [];
  }

  /** A client has its answer, or knows that it will not have one. */
  ended(heard: Heard, bounds: Bounds): void {
    this.heard.push(heard);
    const { ask, text, end } = heard;
    const { rid } = ask;
    for (const mark of marksIn(text)) {
      if (tenantOf(mark) !== tenantOf(rid)) this.wrong(`G5: ${rid} was given ${mark}, of another tenant`);
      else if (mark !== rid && !ask.path.startsWith('/v1/responses') && apiOf(ask.path) !== undefined)
        this.wrong(`G5: ${rid} was given the answer to ${mark}`);
    }
    if (sourcesIn(text).size > 1) this.wrong(`G2: ${rid} was given parts of two answers`);
    if (heard.left || ask.lies) return;
    const lateMs = this.now() - heard.sentAt;
    if (heard.sent && !ask.stream && lateMs > bounds.wholeMs) this.wrong(`G6: ${rid} waited ${lateMs} ms`);
    const held = heard.connection.holdMsMax > (this.closing ? bounds.closeMs : bounds.idleMs);
    if (end === 'whole') this.#judge(heard);
    else if (!held && !this.#mayBreak(heard)) {
      this.wrong(`G2: the client of ${rid} hears ${end === 'none' ? 'nothing' : 'half an answer'}`);
    }
  }

  /** Whether an answer may end with its connection: bytes passed through cannot be taken back. */
  #mayBreak({ ask, head, connection }: Heard): boolean {
    if (this.closing) return !this.accepted.has(ask.rid) || (head === undefined && connection.closes);
    return head !== undefined && apiOf(ask.path) === undefined;
  }

  /** The gateway ends now. */
  closing = false;
  /** Every engine is well, so that only clients can hurt each other. */
  calm = false;

  /** Bytes that the gateway has read of engines' answers to this request. */
  readFor(rid: string): number {
    return Math.max(0, ...(this.#served.get(rid) ?? []).map(({ sentBytes, wire }) => sentBytes - wire.unread));
  }

  /** The gateway has ended: every call has, and every whole request has one line in the log. */
  closed(): void {
    this.book.close();
    for (const { ask, sent } of this.heard) {
      const own = this.linesOf(ask.rid).filter(({ msg }) => msg !== 'passed through');
      if (own.length > 1) this.wrong(`G1: ${ask.rid} has ${own.length} lines in the log`);
      if (sent && own.length === 0 && this.#served.has(ask.rid) && this.linesOf(ask.rid).length === 0)
        this.wrong(`G1: ${ask.rid} was served, and no line says so`);
    }
  }

  #judge({ ask, head, text }: Heard): void {
    const { rid } = ask;
    const type = head?.headers.get('content-type') ?? '';
    const owner = /^\/programs\/.*"tenant":"(\w+)"/.exec(ask.path + text)?.[1];
    if (owner !== undefined && owner !== tenantOf(rid)) this.wrong(`G5: ${rid} ended a program of ${owner}`);
    const own = this.accepted.get(rid);
    if (this.calm && ask.manner === 'worker' && head?.status !== 200)
      this.wrong(`G6: ${rid}, a bystander, is answered ${head?.status} while all engines are well`);
    if (type.startsWith('text/event-stream')) {
      if (endOf(text) === undefined) this.wrong(`G2: the stream for ${rid} ends without saying so`);
      if (text !== '' && !text.endsWith('\n\n')) this.wrong(`G2: the stream for ${rid} ends in half an event`);
    } else if (head?.status === 200 && own !== undefined && !isJsonObject(text)) {
      this.wrong(`G2: ${rid} was answered 200 with half a body`);
    }
    if (own !== undefined && own.status !== head?.status)
      this.wrong(`G7: ${rid} was answered ${head?.status}, and the log says ${own.status}`);
    if (own?.outcome === 'completed' && !ask.body.includes(`"${PLAIN}"`) && marksIn(text)[0] !== rid)
      this.wrong(`G2: ${rid} is completed, and its client has not its answer`);
  }
}

const isHeld = (served: Served): boolean => served.running && served.wire.held;

function isJsonObject(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}
