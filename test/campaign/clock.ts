import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';

const real = {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  clearImmediate,
  Date,
  sleep: timersPromises.setTimeout,
};

/** The clock in charge. undici keeps one timer for as long as it is loaded, and winds it up again in the next world. */
let installed: Clock | undefined;

function take(clock: Clock | undefined): void {
  installed = clock;
}

/** A timer of virtual time, with what Node's own have beside it. Node never counts these as reasons to live on. */
class SimTimer {
  at = 0;
  order = 0;

  constructor(
    private readonly clock: Clock,
    readonly ms: number,
    readonly fire: () => void,
    readonly repeats: boolean,
    /** Set by the gateway, or for one of its sockets; else by the world. */
    readonly isGateways: boolean,
  ) {
    this.refresh();
  }

  refresh(): this {
    (installed ?? this.clock).arm(this);
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  close(): this {
    (installed ?? this.clock).disarm(this);
    return this;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/**
 * Time that passes only when the world says so, in place of every timer and clock that JavaScript can see: between two
 * `install` and `uninstall`, `setTimeout`, `setInterval`, `performance.now` and `Date` are this clock's. Immediates stay
 * real and are counted, so that `settle` knows when nothing more happens by itself.
 */
export class Clock {
  /** Monotonic, in milliseconds. */
  now = 0;
  /** Wall clock less monotonic clock; jumps. */
  wallOffsetMs = 0;
  readonly #timers = new Set<SimTimer>();
  #orders = 0;
  readonly #immediates = new Set<NodeJS.Immediate>();

  install(): void {
    take(this);
    const wall = (): number => this.wall();
    const make =
      (repeats: boolean) =>
      (fn: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
        new SimTimer(this, ms !== undefined && ms >= 1 ? ms : 1, () => fn(...args), repeats, true);
    const clear = (timer: unknown): void => {
      if (timer instanceof SimTimer) timer.close();
    };
    class SimDate extends Date {
      constructor(...args: unknown[]) {
        super(...((args.length === 0 ? [wall()] : args) as [number]));
      }

      static override now = wall;
    }
    Object.assign(globalThis, {
      setTimeout: make(false),
      setInterval: make(true),
      clearTimeout: clear,
      clearInterval: clear,
      setImmediate: (fn: (...args: unknown[]) => void, ...args: unknown[]) => this.#immediately(() => fn(...args)),
      clearImmediate: (handle: NodeJS.Immediate | undefined) => this.#clearImmediate(handle),
      Date: SimDate,
    });
    performance.now = () => this.now;
    Object.assign(timersPromises, {
      setTimeout: (ms: number) => new Promise((done) => make(false)(() => done(undefined), ms)),
    });
    syncBuiltinESMExports();
  }

  uninstall(): void {
    take(undefined);
    const { sleep, ...globals } = real;
    Object.assign(globalThis, globals);
    delete (performance as { now?: unknown }).now;
    Object.assign(timersPromises, { setTimeout: sleep });
    syncBuiltinESMExports();
  }

  /** What `Date` says. */
  wall(): number {
    return Math.floor(1_700_000_000_000 + this.wallOffsetMs + this.now);
  }

  /** A timer of the world's own, or of a socket. */
  after(ms: number, fn: () => void, isGateways = false): () => void {
    const timer = new SimTimer(this, Math.max(0, ms), fn, false, isGateways);
    return () => timer.close();
  }

  arm(timer: SimTimer): void {
    timer.at = this.now + timer.ms;
    timer.order = this.#orders++;
    this.#timers.add(timer);
  }

  disarm(timer: SimTimer): void {
    this.#timers.delete(timer);
  }

  /** Delays that the gateway's pending timers were set with. */
  get pending(): readonly number[] {
    return [...this.#timers].filter((timer) => timer.isGateways).map((timer) => timer.ms);
  }

  /** When the next timer is due; Infinity if there is none. */
  get next(): number {
    return this.#first()?.at ?? Infinity;
  }

  /** Goes to the next timer and fires it, late where the clock has been moved past it. */
  fireNext(): void {
    const timer = this.#first();
    if (timer === undefined) return;
    this.now = Math.max(this.now, timer.at);
    if (timer.repeats) this.arm(timer);
    else this.#timers.delete(timer);
    timer.fire();
  }

  /** Lets everything happen that needs no time: microtasks, ticks and immediates. */
  async settle(): Promise<void> {
    do await new Promise<void>((resolve) => real.setImmediate(resolve));
    while (this.#immediates.size > 0);
  }

  #first(): SimTimer | undefined {
    let first: SimTimer | undefined;
    for (const timer of this.#timers)
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    return first;
  }

  #immediately(fn: () => void): NodeJS.Immediate {
    const handle = real.setImmediate(() => {
      this.#immediates.delete(handle);
      fn();
    });
    this.#immediates.add(handle);
    return handle;
  }

  #clearImmediate(handle: NodeJS.Immediate | undefined): void {
    if (handle === undefined) return;
    this.#immediates.delete(handle);
    real.clearImmediate(handle);
  }
}
