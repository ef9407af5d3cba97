import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { ShadowAnswer } from '../../sidecar/admin/answers.js';
import type { Config } from '../../sidecar/config/index.js';
import type { Shadow } from '../../sidecar/index.js';
import type { Command, Event, Millis } from '../../src/index.js';
import type { ShadowSettings } from './estimate.js';
import type { FromShadow, ToShadow } from './messages.js';
import { SeenCalls } from './seen-calls.js';
import { LIMITS } from './window.js';

/** Interval of the looks whether an estimate is due, and most calls to send at a time: copying more would hold up others. */
const LOOK_MS = 500;
const SEND_MAX = 500;
/** Share of a core that estimates may take. */
const CPU_SHARE_MAX = 0.01;
const HEAP_MB_MAX = 512;

/**
 * Estimates in a thread of their own, so that simulations hold up no call. The thread gets one message at a time, and the
 * calls only when an estimate is due: under load most of them have left the window by then.
 */
export class ShadowThread implements Shadow {
  readonly #calls: SeenCalls;
  readonly #worker: Worker;
  readonly #timer: NodeJS.Timeout;
  #config: Config;
  #isWaiting = false;
  #isOver = false;
  #estimateAtMs: number;
  #latest: ShadowAnswer | undefined;

  constructor(
    config: Config,
    private readonly log: Logger,
    private readonly embedded: readonly string[],
  ) {
    this.#config = config;
    const nowMs = performance.now();
    this.#calls = new SeenCalls(nowMs, config.limits.programsMax);
    this.#estimateAtMs = nowMs + config.shadow.everyMs;
    this.#worker = new Worker(new URL('./worker.js', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    this.#worker.on('message', (message: FromShadow) => this.#answered(message));
    this.#worker.on('error', (error) => this.#failed(error));
    this.#timer = setInterval(() => this.#send(), LOOK_MS);
  }

  latest(): ShadowAnswer | undefined {
    return this.#latest;
  }

  step(event: Event, now: Millis, commands: readonly Command[]): void {
    if (this.#isOver) return;
    this.#calls.step(event, now, commands);
    const more = this.#calls.ended.length - LIMITS.callsMax;
    if (more >= SEND_MAX) this.#calls.drop(more);
  }

  configured(config: Config, now: Millis): void {
    this.#config = config;
    this.#calls.restart(now);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#worker.terminate();
  }

  #send(): void {
    const { ended, engines, sinceMs } = this.#calls;
    const nowMs = performance.now();
    if (this.#isWaiting || nowMs < this.#estimateAtMs) return;
    const scene =
      ended.length <= SEND_MAX
        ? {
            open: this.#calls.open,
            engines: [...engines.values()],
            settings: { ...settingsOf(this.#config), embedded: this.embedded },
          }
        : undefined;
    const message: ToShadow = { ended: ended.splice(0, SEND_MAX), sinceMs, nowMs, scene };
    this.#isWaiting = true;
    this.#worker.postMessage(message);
  }

  #answered(answer: FromShadow): void {
    this.#isWaiting = false;
    if (answer !== undefined) {
      this.#latest = answer;
      const pauseMs = (1000 * answer.took_seconds) / CPU_SHARE_MAX;
      this.#estimateAtMs = performance.now() + Math.max(this.#config.shadow.everyMs, pauseMs);
    }
    this.#send();
  }

  #failed(err: Error): void {
    this.log.error({ err }, 'shadow estimates stopped');
    this.#isOver = true;
    this.#latest = undefined;
    clearInterval(this.#timer);
  }
}

const settingsOf = ({ policy, starvation, admission, balancer, limits, timeouts }: Config): ShadowSettings => ({
  policy,
  starvation,
  admission,
  balancer,
  limits,
  timeouts,
});
