import type { Clock } from './clock.js';
import { MessageReader, type Head } from './http1.js';
import type { Door } from './platform.js';
import type { Wire } from './wire.js';

/** How a client leaves before it has its answer. */
export interface Leaving {
  /** Counted from here: from the first bytes of the request, from its last, or from the first of the answer. */
  readonly from: 'begun' | 'sent' | 'heard';
  readonly afterMs: number;
  /** `finish` says that it sends no more, and listens on. */
  readonly how: 'reset' | 'close' | 'finish';
}

/** One request that a client makes, and its manners. */
export interface Ask {
  /** Unique in the world: `x-request-id`. */
  readonly rid: string;
  /** Who asks: see `agents.ts`. */
  readonly manner: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly stream: boolean;
  readonly leaving?: Leaving | undefined;
  /** Between the parts of the request; 0: sent at once. */
  readonly sendGapMs: number;
  /** Takes nothing for so long after the first bytes of the answer. */
  readonly holdMs: number;
  /** Claims a longer body than it sends. */
  readonly lies: boolean;
}

/** What became of a request, as its client saw it. */
export interface Heard {
  readonly ask: Ask;
  readonly connection: Connection;
  /** Bytes that the gateway had written to the connection before. */
  readonly writtenBefore: number;
  readonly askedAt: number;
  /** The last byte of the request has gone out. */
  sent: boolean;
  sentAt: number;
  left: boolean;
  head: Head | undefined;
  text: string;
  lastAt: number;
  /** `whole`: an answer with its end. `cut`: the connection ended inside of it. `none`: it ended before. */
  end: 'whole' | 'cut' | 'none' | undefined;
  endedAt: number;
}

export interface ClientPorts {
  readonly clock: Clock;
  /** Of the gateway that it asks. */
  readonly door: Door;
  readonly say: (text: string) => void;
  /** Something is wrong with what came: bytes that are not HTTP, or that nobody asked for. */
  readonly wrong: (text: string) => void;
  readonly ended: (heard: Heard) => void;
}

/** A connection to the gateway, and the requests made over it, one after the other or several at once. */
export class Connection {
  readonly #asked: Heard[] = [];
  readonly #wire: Wire | undefined;
  readonly #reader: MessageReader;
  #closed = false;
  /** The client has said that it sends no more, so nobody can ask anything over it again. */
  #finished = false;
  /** The longest that it takes nothing; answers behind one another wait alike. */
  holdMsMax = 0;
  /** An answer has said that it is the last one: what was asked behind it has to be asked again elsewhere. */
  closes = false;

  constructor(
    private readonly ports: ClientPorts,
    delayMs: number,
  ) {
    this.#reader = new MessageReader({
      head: (head) => this.#head(head),
      body: (bytes) => {
        const heard = this.#asked[0];
        if (heard !== undefined) heard.text += bytes.toString();
      },
      done: () => this.#end('whole'),
    });
    this.#wire = ports.door.dial(delayMs);
    this.#wire?.listen({
      data: (bytes) => this.#take(bytes),
      end: () => this.#over(),
      closed: () => this.#over(),
    });
    if (this.#wire === undefined) this.#closed = true;
  }

  /** Free for another request. */
  get idle(): boolean {
    return !this.#closed && !this.#finished && this.#asked.length === 0;
  }

  /** Able to take a request behind those under way. */
  get pipelines(): boolean {
    return !this.#closed && !this.#finished && this.#asked.every(({ sent }) => sent);
  }

  get wire(): Wire | undefined {
    return this.#wire;
  }

  get door(): Door {
    return this.ports.door;
  }

  ask(ask: Ask): Heard {
    const { clock } = this.ports;
    const heard: Heard = {
      ask,
      connection: this,
      writtenBefore: this.#wire?.written ?? 0,
      askedAt: clock.now,
      sent: false,
      sentAt: 0,
      left: false,
      head: undefined,
      text: '',
      lastAt: clock.now,
      end: undefined,
      endedAt: 0,
    };
    this.#asked.push(heard);
    this.holdMsMax = Math.max(this.holdMsMax, ask.holdMs);
    if (this.#wire === undefined) {
      clock.after(0, () => this.#end('none'));
      return heard;
    }
    this.#send(heard, bytesOf(ask));
    if (ask.leaving?.from === 'begun') this.#leaveAfter(heard);
    return heard;
  }

  close(): void {
    this.#wire?.close();
  }

  #send(heard: Heard, parts: readonly string[]): void {
    const [part, ...rest] = parts;
    if (part === undefined) {
      heard.sent = !heard.ask.lies;
      heard.sentAt = this.ports.clock.now;
      if (heard.ask.leaving?.from === 'sent') this.#leaveAfter(heard);
      return;
    }
    if (this.#closed) return;
    this.#wire?.send(part);
    if (heard.ask.sendGapMs === 0) this.#send(heard, rest);
    else this.ports.clock.after(heard.ask.sendGapMs, () => this.#send(heard, rest));
  }

  #leaveAfter(heard: Heard): void {
    const { leaving } = heard.ask;
    if (leaving === undefined) return;
    this.ports.clock.after(leaving.afterMs, () => {
      if (heard.end !== undefined || this.#closed) return;
      this.ports.say(`client of ${heard.ask.rid} leaves (${leaving.how})`);
      for (const each of this.#asked) each.left = true;
      if (leaving.how !== 'finish') return this.#wire?.[leaving.how]();
      this.#finished = true;
      this.#wire?.finish();
    });
  }

  #take(bytes: Buffer): void {
    const heard = this.#asked[0];
    if (heard === undefined) {
      this.ports.wrong(`a client hears what it did not ask for: ${JSON.stringify(bytes.toString().slice(0, 200))}`);
      return;
    }
    const first = heard.head === undefined && heard.text === '';
    heard.lastAt = this.ports.clock.now;
    try {
      this.#reader.push(bytes);
    } catch (error) {
      this.ports.wrong(`the answer to ${heard.ask.rid} is not HTTP: ${String(error)}`);
      this.#wire?.reset();
      return;
    }
    if (!first) return;
    if (heard.ask.leaving?.from === 'heard') this.#leaveAfter(heard);
    if (heard.ask.holdMs > 0 && heard.end === undefined) {
      this.#wire?.hold();
      this.ports.clock.after(heard.ask.holdMs, () => this.#wire?.read());
    }
  }

  #head(head: Head): void {
    const heard = this.#asked[0];
    if (heard === undefined) this.ports.wrong(`an answer that nobody asked for: ${head.line}`);
    else if (head.status >= 200) heard.head = head;
    this.closes ||= head.headers.get('connection') === 'close';
  }

  #over(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#reader.end();
    this.#wire?.close();
    while (this.#asked.length > 0) this.#end(this.#asked[0]?.head === undefined ? 'none' : 'cut');
  }

  #end(end: 'whole' | 'cut' | 'none'): void {
    const heard = this.#asked.shift();
    if (heard === undefined) return;
    heard.end = end;
    heard.endedAt = this.ports.clock.now;
    const { ask, head } = heard;
    this.ports.say(`client of ${ask.rid} has ${end === 'whole' ? `an answer: ${head?.status}` : `heard ${end}`}`);
    this.ports.ended(heard);
  }
}

/** The request's bytes, cut where a slow client pauses. */
function bytesOf({ rid, method, path, headers, body, sendGapMs, lies }: Ask): string[] {
  const length = Buffer.byteLength(body) + (lies ? 10 : 0);
  const lines = Object.entries({ host: 'gateway', 'x-request-id': rid, ...headers }).map(([k, v]) => `${k}: ${v}\r\n`);
  const type = body === '' ? '' : `content-type: application/json\r\ncontent-length: ${length}\r\n`;
  const text = `${method} ${path} HTTP/1.1\r\n${lines.join('')}${type}\r\n${body}`;
  if (sendGapMs === 0) return [text];
  const third = Math.ceil(text.length / 3);
  return [text.slice(0, third), text.slice(third, 2 * third), text.slice(2 * third)];
}
