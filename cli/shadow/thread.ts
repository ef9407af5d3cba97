import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { ShadowAnswer } from '../../sidecar/admin/answers.js';
import type { Config } from '../../sidecar/config/index.js';
import type { Shadow } from '../../sidecar/index.js';
import type { Command, Event, Millis } from '../../src/index.js';
import { LIMITS, SeenCalls, type Seen } from './seen-calls.js';
import type { Scene } from './worker.js';

/** Interval of the looks whether an estimate is due, and calls to send at a time: copying more would hold up others. */
const LOOK_MS = 500;
const SEND_MAX = 500;
const CPU_SHARE_MAX = 0.01;
/** A full window of calls needs less than 64 MB. With V8's own young generation the thread takes 50 MB more. */
const HEAP_MB = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 };

/** Estimates in a thread of their own, so that simulations hold up no call. It starts with the first estimate. */
export class ShadowThread implements Shadow {
  readonly #calls: SeenCalls;
  readonly #timer: NodeJS.Timeout;
  #worker: Worker | undefined;
  #isWaiting = false;
  /** Whether the estimate under way is of engines or settings that have been changed since. */
  #isOutdated = false;
  #isOver = false;
  #estimateAtMs: number;
  #latest: ShadowAnswer | undefined;

  constructor(
    private config: Config,
    private readonly log: Logger,
    private readonly embedded: readonly string[],
    private readonly open = () => new Worker(new URL('./worker.js', import.meta.url), { resourceLimits: HEAP_MB }),
  ) {
    const nowMs = performance.now();
    this.#calls = new SeenCalls(nowMs, config.limits.programsMax, LIMITS, () => this.#restarted());
    this.#estimateAtMs = nowMs + config.shadow.everyMs;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  latest(): ShadowAnswer | undefined {
    return this.#latest;
  }

  step(event: Event, now: Millis, commands: readonly Command[]): void {
    if (!this.#isOver) this.#calls.step(event, now, commands);
  }

  configured(config: Config, now: Millis): void {
    this.config = config;
    this.#calls.restart(now);
    this.#latest = undefined;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#worker?.terminate();
  }

  #look(): void {
    const nowMs = performance.now();
    if (this.#isWaiting || nowMs < this.#estimateAtMs) return;
    const { ended, ...seen } = this.#calls.seen(nowMs);
    if (ended.length === 0) return this.#dropDoubt();
    this.#isWaiting = true;
    const settings = { ...this.config, embedded: this.embedded };
    void send((this.#worker ??= this.#start()), ended, { ...seen, settings });
  }

  #restarted(): void {
    this.#isOutdated = this.#isWaiting;
    this.#dropDoubt();
  }

  /** Nothing of it is left in the window. */
  #dropDoubt(): void {
    if (this.#latest !== undefined && !hasFigure(this.#latest)) this.#latest = undefined;
  }

  #start(): Worker {
    return this.open()
      .on('message', (answer: ShadowAnswer) => this.#answered(answer))
      .on('error', (error) => this.#failed(error));
  }

  #answered(answer: ShadowAnswer): void {
    this.#isWaiting = false;
    if (!this.#isOutdated && replaces(this.#latest, answer)) this.#latest = answer;
    this.#isOutdated = false;
    const pauseMs = (1000 * answer.took_seconds) / CPU_SHARE_MAX;
    const { everyMs } = this.config.shadow;
    const isSoon = answer.pools.some(({ doubt }) => doubt === 'unfinished');
    this.#estimateAtMs = performance.now() + Math.max(isSoon ? everyMs / 6 : everyMs, pauseMs);
  }

  #failed(err: Error): void {
    this.log.error({ err }, 'shadow estimates stopped');
    this.#isOver = true;
    this.#latest = undefined;
    clearInterval(this.#timer);
  }
}

/** Also that there is no difference. */
const hasFigure = ({ pools }: ShadowAnswer): boolean =>
  pools.some(({ doubt }) => doubt === null || doubt === 'no_difference');

/** Whether the next estimate is shown. A doubt never outlives the next answer; a figure stands while too few programs tell anything. */
export const replaces = (last: ShadowAnswer | undefined, next: ShadowAnswer): boolean =>
  last === undefined ||
  hasFigure(next) ||
  !hasFigure(last) ||
  (next.pools.some(({ doubt }) => doubt !== 'few_programs') && next.made_at - last.made_at > LIMITS.windowMs / 1000);

async function send(worker: Worker, ended: Seen['ended'], scene: Scene): Promise<void> {
  for (let from = 0; from < ended.length; from += SEND_MAX) {
    worker.postMessage(ended.slice(from, from + SEND_MAX));
    await turn();
  }
  worker.postMessage(scene);
}
