import type { CallOutcome, ProgramRecord } from './options.js';
import type { AgentProgram } from '../../workloads/index.js';

/**
 * One program under way: the states of its calls.
 *
 *     waits for others ──the last of them has ended──> may be made ──> ended | failed
 *            └──one of them failed or was cancelled──> cancelled
 */
export class ProgramRun {
  /** Number of calls that have neither ended nor been cancelled. */
  open: number;
  outcome: CallOutcome = 'completed';
  longestQueueMs = 0;
  #made = 0;
  #cancelled = 0;
  #promptTokens = 0;
  #outputTokens = 0;
  /** For each call, the number of its unfinished predecessors; -1 once it has ended or is cancelled. */
  readonly #missing: Int32Array;
  /** For each call, the start of its successors in `#behind`; the next call's start is their end. */
  readonly #behindFrom: Int32Array;
  readonly #behind: Int32Array;

  /** @throws RangeError when a call does not come after all calls that it waits for */
  constructor(
    readonly program: AgentProgram,
    readonly arrivedMs: number,
  ) {
    const { calls } = program;
    this.open = calls.length;
    this.#missing = new Int32Array(calls.length);
    this.#behindFrom = new Int32Array(calls.length + 1);
    let edges = 0;
    calls.forEach(({ after }, index) => {
      this.#missing[index] = after.length;
      edges += after.length;
      for (const before of after) {
        if (!(before >= 0 && before < index))
          throw new RangeError(`program ${program.id}: call ${index} waits for call ${before}`);
        this.#behindFrom[before + 1] = (this.#behindFrom[before + 1] ?? 0) + 1;
      }
    });
    for (let call = 0; call < calls.length; call += 1)
      this.#behindFrom[call + 1] = (this.#behindFrom[call + 1] ?? 0) + (this.#behindFrom[call] ?? 0);
    this.#behind = new Int32Array(edges);
    const filled = this.#behindFrom.slice();
    calls.forEach(({ after }, index) => {
      for (const before of after) {
        const place = filled[before] ?? 0;
        this.#behind[place] = index;
        filled[before] = place + 1;
      }
    });
  }

  *opening(): Iterable<number> {
    for (let call = 0; call < this.#missing.length; call += 1)
      if (this.program.calls[call]?.after.length === 0) yield call;
  }

  made(): void {
    this.#made += 1;
  }

  /** The call has its answer. Returns the calls that waited only for it. */
  completed(call: number, promptTokens: number, outputTokens: number): number[] {
    this.open -= 1;
    this.#missing[call] = -1;
    this.#promptTokens += promptTokens;
    this.#outputTokens += outputTokens;
    const ready: number[] = [];
    // Not by `#behindOf`: a view costs more than the single successor that most calls have.
    const end = this.#behindFrom[call + 1] ?? 0;
    for (let place = this.#behindFrom[call] ?? 0; place < end; place += 1) {
      const next = this.#behind[place] ?? -1;
      const missing = this.#missing[next] ?? -1;
      if (missing < 0) continue;
      this.#missing[next] = missing - 1;
      if (missing === 1) ready.push(next);
    }
    return ready;
  }

  /** The call has failed: its successors, direct or indirect, are never made. */
  failed(call: number, outcome: CallOutcome): void {
    this.open -= 1;
    this.#missing[call] = -1;
    // A fault of the system outweighs a cancellation by the client.
    if (this.outcome === 'completed' || this.outcome === 'cancelled') this.outcome = outcome;
    const before = this.#cancelled;
    const toCancel = [...this.#behindOf(call)];
    for (let next = toCancel.pop(); next !== undefined; next = toCancel.pop()) {
      if (this.#missing[next] === -1) continue;
      this.#missing[next] = -1;
      this.#cancelled += 1;
      for (const behind of this.#behindOf(next)) toCancel.push(behind);
    }
    this.open -= this.#cancelled - before;
  }

  record(endedMs: number, aloneMs: number): ProgramRecord {
    return {
      program: this.program.id,
      workload: this.program.workload ?? '',
      arrivedMs: this.arrivedMs,
      endedMs,
      calls: this.#made,
      callsCancelled: this.#cancelled,
      promptTokens: this.#promptTokens,
      outputTokens: this.#outputTokens,
      longestQueueMs: this.longestQueueMs,
      aloneMs,
      outcome: this.outcome,
    };
  }

  #behindOf(call: number): Int32Array {
    return this.#behind.subarray(this.#behindFrom[call], this.#behindFrom[call + 1]);
  }
}
