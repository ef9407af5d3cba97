import { Duplex } from 'node:stream';
import type { Wire } from './wire.js';

/** Bytes that a connection holds each way before its sender must wait: what kernels do by default, about. */
export const WIRE_BYTES = 65_536;

export function fault(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** The gateway's end of a connection. */
export class SimSocket extends Duplex {
  /** Bytes sent by the world that have not arrived. */
  coming = 0;
  connecting = false;
  readonly remoteAddress = '127.0.0.1';
  readonly #held: (Buffer | null)[] = [];
  #wants = false;
  #waiting: (() => void) | undefined;
  #idleMs = 0;
  #stopIdle = (): void => undefined;

  constructor(
    private readonly wire: Wire,
    halfOpen: boolean,
  ) {
    super({ allowHalfOpen: halfOpen, highWaterMark: 16_384 });
  }

  get unread(): number {
    return this.coming + this.readableLength + this.#held.reduce((sum, chunk) => sum + (chunk?.length ?? 0), 0);
  }

  receive(chunk: Buffer | null): void {
    this.coming -= chunk?.length ?? 0;
    if (this.destroyed) return;
    this.#alive();
    this.#held.push(chunk);
    this.#pass();
  }

  /** The world took bytes; so many are still on their way. */
  made(left: number): void {
    this.#alive();
    if (left >= WIRE_BYTES) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }

  setTimeout(ms: number): this {
    this.#idleMs = ms;
    this.#alive();
    return this;
  }

  get timeout(): number {
    return this.#idleMs;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {
    this.#wants = true;
    this.#pass();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#alive();
    if (this.wire.gone) {
      done(fault('EPIPE'));
      return;
    }
    if (chunk.length > 0) this.wire.deliver(chunk);
    if (this.wire.written - this.wire.taken < WIRE_BYTES) done();
    else this.#waiting = done;
  }

  override _final(done: (error?: Error | null) => void): void {
    this.wire.deliver('end');
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#idleMs = 0;
    this.#stopIdle();
    this.wire.deliver('closed');
    done(error);
  }

  #pass(): void {
    while (this.#wants && this.#held.length > 0) this.#wants = this.push(this.#held.shift());
  }

  /** Bytes moved: the idle time counts anew. */
  #alive(): void {
    this.#stopIdle();
    if (this.#idleMs > 0 && !this.destroyed)
      this.#stopIdle = this.wire.clock.after(this.#idleMs, () => this.emit('timeout'), true);
  }
}
