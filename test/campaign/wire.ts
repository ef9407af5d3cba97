import type { Clock } from './clock.js';
import { SimSocket, fault } from './socket.js';

/** What the world's end of a connection hears. */
export interface WireEvents {
  data(bytes: Buffer): void;
  /** The gateway sends no more. */
  end(): void;
  /** The connection is over, by whoever's doing. Told once. */
  closed(): void;
}

/**
 * One connection between the gateway and the world. The gateway holds the `socket`, a Duplex that looks like a
 * `net.Socket` to Node's HTTP server and to undici. The world has the methods here. Bytes take `delayMs` each way.
 */
export class Wire {
  readonly socket: SimSocket;
  /** Bytes that the gateway wrote, and those of them that the world took. */
  written = 0;
  taken = 0;
  /** The world has let go of it; what the gateway writes from then on is an error. */
  gone = false;
  #events: WireEvents | undefined;
  #reading = true;
  #closed = false;
  #due: { readonly at: number; readonly all: (() => void)[] } | undefined;
  readonly #inbox: (Buffer | 'end' | 'closed')[] = [];

  constructor(
    readonly clock: Clock,
    readonly delayMs: number,
    halfOpen: boolean,
  ) {
    this.socket = new SimSocket(this, halfOpen);
  }

  listen(events: WireEvents): this {
    this.#events = events;
    return this;
  }

  /** Whether the gateway still holds its end. */
  get held(): boolean {
    return !this.socket.destroyed;
  }

  /** Bytes that the gateway has not read yet. */
  get unread(): number {
    return this.socket.unread;
  }

  send(bytes: Buffer | string): void {
    if (this.gone) return;
    const chunk = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    this.socket.coming += chunk.length;
    this.#later(() => this.socket.receive(chunk));
  }

  /** Says that nothing more comes, and stays to hear the rest. */
  finish(): void {
    this.#later(() => this.socket.receive(null));
  }

  /** Breaks the connection: the gateway sees ECONNRESET. */
  reset(): void {
    this.#leave(() => this.socket.destroy(fault('ECONNRESET')));
  }

  /** Closes both ways in good order. */
  close(): void {
    this.#leave(() => this.socket.receive(null));
  }

  /** Takes nothing more until `read`. */
  hold(): void {
    this.#reading = false;
  }

  read(): void {
    this.#reading = true;
    this.#takeAll();
  }

  /** For the socket: bytes on their way out, the last of them, or that the gateway has let go. */
  deliver(what: Buffer | 'end' | 'closed'): void {
    if (typeof what !== 'string') this.written += what.length;
    this.#later(() => {
      this.#inbox.push(what);
      this.#takeAll();
    });
  }

  #takeAll(): void {
    while (this.#reading && !this.#closed) {
      const next = this.#inbox.shift();
      if (next === undefined) return;
      if (next === 'closed') this.#close();
      else if (!this.gone) this.#take(next);
    }
  }

  #take(chunk: Buffer | 'end'): void {
    if (chunk === 'end') {
      this.#events?.end();
      return;
    }
    this.taken += chunk.length;
    this.socket.made(this.written - this.taken);
    this.#events?.data(chunk);
  }

  #leave(tell: () => void): void {
    if (this.gone) return;
    this.gone = true;
    this.#later(tell);
    this.#close();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.gone = true;
    this.#events?.closed();
  }

  /** What comes at the same time comes at once. */
  #later(fn: () => void): void {
    const at = this.clock.now + this.delayMs;
    const last = this.#due;
    if (last?.at === at) {
      last.all.push(fn);
      return;
    }
    const due = (this.#due = { at, all: [fn] });
    this.clock.after(this.delayMs, () => {
      if (this.#due === due) this.#due = undefined;
      for (const each of due.all) each();
    });
  }
}
