import type { IncomingHttpHeaders } from 'node:http';

const QUEUED = /^\s*queued waited_ms=(\d+)/;
const DISPATCHED = /^\s*dispatched engine=(\S+)/;

/**
 * The gateway's report of a call: in its headers, or in comments of its stream if the headers went out while the call
 * was queued. Undefined and NaN without a report, as from any other server.
 */
export class GatewayWords {
  engine: string | undefined;
  queueMs = NaN;
  /** How many times as fast as real the engine runs, if it is a stand-in: its own header, which a gateway passes on. */
  speed = NaN;
  #isQueued = false;

  takeHeaders(headers: IncomingHttpHeaders): void {
    this.engine = textOf(headers['x-maitred-engine']);
    this.queueMs = numberOf(headers['x-maitred-queue-ms']);
    this.speed = numberOf(headers['x-sim-speed']);
    this.#isQueued = headers['x-maitred-reason'] === 'queued';
  }

  /** @param sinceMs milliseconds from sending the call to the comment's arrival */
  takeComment(comment: string, sinceMs: number): void {
    const [, waitedMs] = QUEUED.exec(comment) ?? [];
    if (waitedMs !== undefined) {
      this.#isQueued = true;
      this.queueMs = Number(waitedMs);
    }
    const [, engine] = DISPATCHED.exec(comment) ?? [];
    // The comment repeats until the engine answers.
    if (engine === undefined || !this.#isQueued) return;
    this.#isQueued = false;
    this.queueMs = sinceMs;
    this.engine = engine;
  }
}

const textOf = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);
/** NaN for anything but a number. */
const numberOf = (value: string | string[] | undefined): number => Number.parseFloat(textOf(value) ?? '');
