import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { Config } from '../sidecar/config/schema.js';
import type { Shadow, ShadowReport } from '../sidecar/index.js';
import type { Command, Event, LogStep, Millis } from '../src/index.js';
import { remembered } from '../lab/index.js';
import type { FromShadow, ShadowStart, ToShadow } from './shadow-messages.js';

/** Interval in which steps go to the thread, and most of them at a time: copying more would hold up calls. */
const SEND_MS = 500;
const SEND_MAX = 500;
/** Steps of a call, at most, and with room for those of engines. */
const STEPS_PER_CALL = 5;
/** Share of a core that estimates may take. */
const BUSY_SHARE = 0.01;
const HEAP_MB_MAX = 512;

/**
 * Estimates in a thread of their own, so that simulations hold up no call. The thread gets one message at a time. Steps
 * that come meanwhile wait here; if there are too many, all are dropped and the window begins anew.
 */
export class ShadowThread implements Shadow {
  readonly #worker: Worker;
  readonly #timer: NodeJS.Timeout;
  #settings: ShadowStart['settings'];
  #steps: LogStep[] = [];
  #restarts = false;
  #isWaiting = false;
  #isOver = false;
  #estimateAtMs: number;
  #latest: ShadowReport | undefined;

  constructor(
    private readonly config: Config,
    private readonly log: Logger,
  ) {
    const { shadow, health } = config;
    this.#settings = settingsOf(config);
    const nowMs = performance.now();
    this.#estimateAtMs = nowMs + shadow.everyMs;
    const start: ShadowStart = { limits: shadow, settings: this.#settings, reportMs: health.intervalMs, nowMs };
    this.#worker = new Worker(new URL('./shadow-worker.js', import.meta.url), {
      workerData: start,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    this.#worker.on('message', (message: FromShadow) => this.#answered(message));
    this.#worker.on('error', (error) => this.#failed(error));
    this.#timer = setInterval(() => this.#send(), SEND_MS);
  }

  latest(): ShadowReport | undefined {
    return this.#latest;
  }

  step(event: Event, now: Millis, commands: readonly Command[]): void {
    if (this.#isOver) return;
    const step = remembered({ now, event, commands });
    if (step === undefined) return;
    this.#steps.push(step);
    if (this.#steps.length <= STEPS_PER_CALL * this.config.shadow.callsMax) return;
    // What engines there are must never be missed.
    this.#steps = this.#steps.filter(({ event: { type } }) => type.startsWith('engine'));
    this.#restarts = true;
  }

  configured(config: Config): void {
    const settings = settingsOf(config);
    if (isDeepStrictEqual(settings, this.#settings)) return;
    this.#settings = settings;
    this.#restarts = true;
  }

  async close(): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#timer);
    await this.#worker.terminate();
  }

  #send(): void {
    const nowMs = performance.now();
    const estimates = nowMs >= this.#estimateAtMs && this.#steps.length <= SEND_MAX;
    if (this.#isWaiting || (this.#steps.length === 0 && !this.#restarts && !estimates)) return;
    const message: ToShadow = {
      nowMs,
      ...(this.#restarts && { restart: { settings: this.#settings } }),
      steps: this.#steps.splice(0, SEND_MAX),
      estimates,
    };
    this.#restarts = false;
    this.#isWaiting = true;
    this.#worker.postMessage(message);
  }

  #answered({ made }: FromShadow): void {
    this.#isWaiting = false;
    if (made !== undefined) {
      const nowMs = performance.now();
      this.#latest = { madeAtMs: nowMs, ...made };
      this.#estimateAtMs = nowMs + Math.max(this.config.shadow.everyMs, made.tookMs / BUSY_SHARE);
    }
    if (this.#steps.length >= SEND_MAX) this.#send();
  }

  #failed(err: Error): void {
    this.log.error({ err }, 'the estimates of the gain end');
    this.#isOver = true;
    this.#steps = [];
    clearInterval(this.#timer);
  }
}

function settingsOf({ policy, starvation, admission, balancer, limits, timeouts }: Config): ShadowStart['settings'] {
  return { policy, starvation, admission, balancer, limits, timeouts };
}
