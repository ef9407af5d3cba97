import type { IncomingHttpHeaders } from 'node:http';

const QUEUED = /^\s*queued waited_ms=(\d+)/;
const DISPATCHED = /^\s*dispatched engine=(\S+) level=(\d+)/;

/**
 * What our gateway says of a call: all at once in its headers, or, where these had to go out while the call was still
 * queued, in comments of its stream. Undefined and NaN where it says nothing, as what is no gateway of ours does.
 */
export class GatewayWords {
  engine: string | undefined;
  level = NaN;
  queueMs = NaN;
  #isQueued = false;

  takeHeaders(headers: IncomingHttpHeaders): void {
    this.engine = textOf(headers['x-maitred-engine']);
    this.level = numberOf(headers['x-maitred-level']);
    this.queueMs = numberOf(headers['x-maitred-queue-ms']);
    this.#isQueued = headers['x-maitred-reason'] === 'queued';
  }

  /** @param sinceMs from when the call was sent to when the comment came */
  takeComment(comment: string, sinceMs: number): void {
    const [, waitedMs] = QUEUED.exec(comment) ?? [];
    if (waitedMs !== undefined) {
      this.#isQueued = true;
      this.queueMs = Number(waitedMs);
    }
    const [, engine, level] = DISPATCHED.exec(comment) ?? [];
    // It is said again from time to time, until the engine answers.
    if (engine === undefined || !this.#isQueued) return;
    this.#isQueued = false;
    this.queueMs = sinceMs;
    this.engine = engine;
    this.level = Number(level);
  }
}

const textOf = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);
/** NaN for what is no number, or not there. */
const numberOf = (value: string | string[] | undefined): number => Number.parseFloat(textOf(value) ?? '');
