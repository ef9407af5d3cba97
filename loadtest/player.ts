import type { Style } from './conversation.js';
import { LOOK_MS_MAX } from './disturbance.js';
import type { Exchange } from './exchange.js';
import type { AloneSpeed, LoadCallRecord, LoadOptions, LoadObserver } from './load.js';
import type { Meter } from './meter.js';
import type { Target } from './target.js';

type PlayOptions = Pick<LoadOptions, 'identity' | 'timeScale' | 'gapMsMax' | 'connections' | 'seed' | 'stream'>;

export interface Stage {
  readonly index: number;
  readonly run: number;
  readonly target: Target;
  readonly model: string;
  readonly isExact: boolean;
  readonly style: Style;
  readonly alone: AloneSpeed | undefined;
  readonly options: PlayOptions;
  /** Unique for each run: names on the wire begin with it. */
  readonly runId: string;
  readonly observer: LoadObserver;
  readonly meter: Meter;
  /** Milliseconds since the first run began. */
  readonly now: () => number;
  /** Ends the run with an error that is not the target's. */
  readonly fault: (error: unknown) => void;
}

/** Twenty-four days: the longest time of a timer. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Plays programs on a target: any number at once, with a bound on the calls in flight. */
export class Player {
  /** Programs that have not ended, each with what tells the target that its client has left. */
  readonly underWay = new Map<object, () => void>();
  promptTokensWanted = 0;
  promptTokensCounted = 0;
  sent = 0;
  /** Calls that broke off. */
  broken = 0;
  /** When the first of its last calls that found nobody, or broke off, ended. */
  #missedMs: number | undefined;
  /** When the target went away and did not come back; undefined: it is there. */
  goneMs: number | undefined;
  #free: number;
  readonly #waiting: (() => void)[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly exchanges = new Set<Exchange>();
  readonly #releases = new Set<Promise<unknown>>();
  #isStopped = false;

  constructor(readonly stage: Stage) {
    this.#free = stage.options.connections;
  }

  /** Runs the action at a time of the run, or now if that has passed. */
  at(timeMs: number, action: () => void): void {
    const waitMs = timeMs - this.stage.now();
    if (waitMs <= 0) return action();
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        // A timer counts from the start of its turn of the event loop, and so may fire slightly early.
        this.at(timeMs, action);
      },
      Math.min(Math.ceil(waitMs), TIMER_MS_MAX),
    );
    this.#timers.add(timer);
  }

  /** Runs the action as soon as one more call may be in flight; `done` must be called when it has ended. */
  whenFree(action: () => void): void {
    if (this.#isStopped) return;
    if (this.#free === 0) {
      this.#waiting.push(action);
      return;
    }
    this.#free -= 1;
    action();
  }

  done(exchange: Exchange): void {
    this.exchanges.delete(exchange);
    this.stage.meter.ended();
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  answered({ outcome, endedMs }: LoadCallRecord): void {
    if (outcome === 'broken_stream' || outcome === 'http_5xx') this.broken += 1;
    this.#missedMs = outcome === 'unreachable' || outcome === 'broken_stream' ? (this.#missedMs ?? endedMs) : undefined;
  }

  /** Reports the end of a program to the target. It is no failure if the target does not support that. */
  release({ path, body }: { readonly path: string; readonly body: object }): void {
    const told = this.stage.target.json('POST', path, body, AbortSignal.timeout(10_000)).catch(() => undefined);
    this.#releases.add(told);
    void told.finally(() => this.#releases.delete(told));
  }

  /** Once it has stopped: waits for its releases, and looks whether the target that lost the last calls is there. */
  async settle(): Promise<void> {
    await Promise.all(this.#releases);
    if (this.#missedMs === undefined) return;
    const look = this.stage.target.json('GET', '/v1/models', undefined, AbortSignal.timeout(LOOK_MS_MAX));
    if ((await look.catch(() => undefined)) === undefined) this.goneMs = this.#missedMs;
  }

  /** Ends everything under way, without records, and tells the target so. */
  stop(): void {
    this.#isStopped = true;
    this.#timers.forEach((timer) => clearTimeout(timer));
    this.#timers.clear();
    this.#waiting.length = 0;
    this.exchanges.forEach((exchange) => exchange.abort());
    this.exchanges.clear();
    this.underWay.forEach((leave) => leave());
  }
}
