import { problem, PROBLEMS_MAX } from '../../plans/index.js';
import { surely, type Disk } from './line-file.js';
import { listed, type BatchObject } from './objects.js';
import type { Run } from './run.js';
import type { Shelf } from './shelf.js';

export type BatchView = Work['view'];

export interface WorkPorts {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Why no line can ask the model now; undefined: some engine serves it, or is waited for. */
  readonly unserved: (model: string) => string | undefined;
}

/** Lines that must have ended before a pace is told. */
const ENDED_MIN = 3;
/** A batch stands still after so long without an end of a line, and after so many times the mean time between two. */
const [STILL_MS, STILL_TIMES] = [10_000, 4];

/** A batch that is planned and not ended. */
export class Work {
  /** Undefined: under way. */
  ending?: Promise<void>;
  /** When it was taken up, later by all outages since; and the lines that had ended by then. */
  #sinceMs: number;
  readonly #endedBefore: number;
  /** Time since a line last ended, and how many had then. */
  #stillMs = 0;
  #endedThen = 0;
  /** Models that no engine served then, and their first lines. */
  readonly #unserved: [string, number][] = [];

  constructor(
    readonly shelf: Shelf,
    readonly id: string,
    readonly run: Run,
    private readonly ports: WorkPorts,
  ) {
    this.#sinceMs = ports.now();
    this.#endedBefore = this.#ended;
    for (const [model, line] of run.input.models) {
      if (ports.unserved(model) !== undefined) this.#unserved.push([model, line]);
      // Each costs a look at all engines, and a file may name a model a line.
      if (this.#unserved.length >= PROBLEMS_MAX) break;
    }
  }

  /** As of now. */
  get batch(): BatchObject {
    return { ...this.#kept, ...this.#progress };
  }

  /** With calls that engines or queues have, and those that may start; and the time without an end of a line, 0 while it moves. */
  get view() {
    const { batch, isLate, shelf } = this;
    const { inFlight, ready, pauses } = this.run;
    const [stillMs, restMs] = this.#isStill ? [this.#stillMs] : [0, this.restMs];
    return { ...batch, tenant: shelf.tenant, inFlight, ready, restMs, stillMs, isLate, pauses };
  }

  /** As the disk has it. */
  get #kept(): BatchObject {
    return this.shelf.batches.get(this.id) as BatchObject;
  }

  /** Whether it is done, cancelled or out of time. */
  get isOver(): boolean {
    const { status, expires_at: until } = this.#kept;
    return this.run.isDone || status === 'cancelling' || this.ports.now() >= 1000 * until;
  }

  /** In seconds since 1970. */
  get expiresAt(): number {
    return this.#kept.expires_at;
  }

  /** Milliseconds that the rest takes at the pace so far, lines under way being half done; undefined: too few have ended to tell. */
  get restMs(): number | undefined {
    const { inFlight, results } = this.run;
    const ended = this.#ended - this.#endedBefore;
    const left = results.counts.total - this.#ended;
    if (ended < ENDED_MIN) return undefined;
    return ((left - inFlight / 2) * (this.ports.now() - this.#sinceMs)) / (ended + inFlight / 2);
  }

  /** @param isIdle no engine was up meanwhile, which says nothing of the pace */
  passed(ms: number, isIdle: boolean): void {
    if (isIdle) this.#sinceMs += ms;
    else this.#stillMs = this.#ended === this.#endedThen ? this.#stillMs + ms : 0;
    this.#endedThen = this.#ended;
  }

  /** Whether no line has ended for so long that the pace so far is no guide. */
  get #isStill(): boolean {
    const movedMs = this.ports.now() - this.#sinceMs - this.#stillMs;
    const meanMs = movedMs / Math.max(1, this.#ended - this.#endedBefore);
    return this.#stillMs > Math.max(STILL_MS, STILL_TIMES * meanMs);
  }

  /** Whether the rest would take more than half of the time that is left to it. */
  get isLate(): boolean {
    const { created_at: from, expires_at: until } = this.#kept;
    const leftMs = 1000 * until - this.ports.now();
    const { restMs } = this;
    return restMs === undefined ? leftMs < 500 * (until - from) : 2 * restMs > leftMs;
  }

  get #progress() {
    const { results, input } = this.run;
    const unserved = this.#unserved.flatMap(([model, line]) => {
      const fault = this.ports.unserved(model);
      return fault === undefined ? [] : problem('unknown_model', fault, line, 'body.model');
    });
    return {
      request_counts: { ...results.counts },
      left_out: results.leftOut,
      usage: results.usage,
      warnings: listed([...unserved, ...input.warnings]),
      failures: listed([...results.failures]),
    };
  }

  get #ended(): number {
    const { completed, failed } = this.run.results.counts;
    return completed + failed;
  }

  /** Ends it: as cancelled, expired or completed. */
  async conclude(keepMs: number, disk: Disk): Promise<BatchObject> {
    const { shelf, id, run } = this;
    await run.stop();
    const isCancelled = this.#kept.status === 'cancelling';
    const isLate = run.results.pending > 0 && !isCancelled;
    if (isCancelled) await run.failRest('batch_cancelled', 'The batch was cancelled before this line ran.');
    if (isLate) await run.failRest('batch_expired', 'The window of the batch ended before this line ran.');
    const at = Math.floor(this.ports.now() / 1000);
    const status = isCancelled ? 'cancelled' : isLate ? 'expired' : 'completed';
    if (status === 'completed') await surely(disk, () => shelf.change(id, { status: 'finalizing', finalizing_at: at }));
    // Batches of an earlier version do not have it.
    const keepSeconds = Math.min(keepMs / 1000, this.#kept.output_expires_after?.seconds ?? Infinity);
    const files = await surely(disk, () => shelf.addResults(id, run.results.bytes, at, keepSeconds));
    const ended = { status, [`${status}_at`]: at, ...files, ...this.#progress } as const;
    return surely(disk, () => shelf.change(id, ended));
  }
}
