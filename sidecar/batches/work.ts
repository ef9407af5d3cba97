import { surely, type Disk } from './line-file.js';
import type { BatchObject } from './objects.js';
import type { Run } from './run.js';
import type { Shelf } from './shelf.js';

export type BatchView = Work['view'];

/** A batch that is planned and not ended. */
export class Work {
  /** Undefined: under way. */
  ending?: Promise<void>;
  /** When it was taken up, and the lines that had ended by then. */
  readonly #sinceMs: number;
  readonly #endedBefore: number;

  /** @param now milliseconds since 1970 */
  constructor(
    readonly shelf: Shelf,
    readonly id: string,
    readonly run: Run,
    private readonly now: () => number,
  ) {
    this.#sinceMs = now();
    this.#endedBefore = this.#ended;
  }

  /** With its counts as of now. */
  get batch(): BatchObject {
    return { ...(this.shelf.batches.get(this.id) as BatchObject), ...this.#counts };
  }

  /** With calls that engines or queues have, and those that may start. */
  get view() {
    const { batch, restMs, isLate, run, shelf } = this;
    return {
      ...batch,
      tenant: shelf.tenant,
      inFlight: run.inFlight,
      ready: run.ready,
      restMs,
      isLate,
      pauses: run.pauses,
    };
  }

  /** Whether it is done, cancelled or out of time. */
  get isOver(): boolean {
    const { status, expires_at: until } = this.batch;
    return this.run.isDone || status === 'cancelling' || this.now() >= 1000 * until;
  }

  /** Milliseconds that the rest takes at the pace so far; undefined: none of its lines has ended yet. */
  get restMs(): number | undefined {
    const ended = this.#ended - this.#endedBefore;
    const left = this.run.results.counts.total - this.#ended;
    return ended === 0 ? undefined : (left * (this.now() - this.#sinceMs)) / ended;
  }

  /** Whether the rest would take more than half of the time that is left to it. */
  get isLate(): boolean {
    const { created_at: from, expires_at: until } = this.batch;
    const leftMs = 1000 * until - this.now();
    const { restMs } = this;
    return restMs === undefined ? leftMs < 500 * (until - from) : 2 * restMs > leftMs;
  }

  get #counts() {
    const { counts, leftOut } = this.run.results;
    const { failures: data } = this.run;
    const failures = data.length === 0 ? null : ({ object: 'list', data } as const);
    return { request_counts: { ...counts }, left_out: leftOut, failures };
  }

  get #ended(): number {
    const { completed, failed } = this.run.results.counts;
    return completed + failed;
  }

  /** Ends it: as cancelled, expired or completed. */
  async conclude(keepMs: number, disk: Disk): Promise<BatchObject> {
    const { shelf, id, run } = this;
    await run.stop();
    const isCancelled = this.batch.status === 'cancelling';
    const isLate = run.results.pending > 0 && !isCancelled;
    if (isCancelled) await run.failRest('batch_cancelled', 'The batch was cancelled before this line ran.');
    if (isLate) await run.failRest('batch_expired', 'The window of the batch ended before this line ran.');
    const at = Math.floor(this.now() / 1000);
    const status = isCancelled ? 'cancelled' : isLate ? 'expired' : 'completed';
    if (status === 'completed') await surely(disk, () => shelf.change(id, { status: 'finalizing', finalizing_at: at }));
    // Batches of an earlier version do not have it.
    const keepSeconds = Math.min(keepMs / 1000, this.batch.output_expires_after?.seconds ?? Infinity);
    const files = await surely(disk, () => shelf.addResults(id, run.results.bytes, at, keepSeconds));
    const ended = { status, [`${status}_at`]: at, ...files, ...this.#counts } as const;
    return surely(disk, () => shelf.change(id, ended));
  }
}
