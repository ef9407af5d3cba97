import { Engine, type EngineSettings } from '../engine/engine.js';
import type { Sequence } from '../engine/sequence.js';
import { Appointment, RANK, type Agenda } from './agenda.js';
import type { Job } from './job.js';
import type { EngineResult } from './options.js';

/** Who hears of the calls of a replica: those that got their first token, then those that have ended. */
export interface ReplicaPorts {
  started(job: Job, sequence: Sequence<Job>): void;
  finished(job: Job, sequence: Sequence<Job>): void;
}

/** One engine in virtual time: one step after the other while it has work. */
export class Replica {
  readonly engine: Engine<Job>;
  readonly #stepBegin: Appointment;
  readonly #stepEnd: Appointment;
  #begunMs = NaN;
  #busyMs = 0;
  #heldBlockMs = 0;

  constructor(
    readonly id: string,
    settings: EngineSettings,
    private readonly agenda: Agenda,
    private readonly ports: ReplicaPorts,
  ) {
    this.engine = new Engine(settings);
    this.#stepBegin = new Appointment(RANK.stepBegins, () => this.#beginStep());
    this.#stepEnd = new Appointment(RANK.stepEnds, () => this.#endStep());
  }

  /** Share of KV blocks that running calls hold. */
  get kvUsage(): number {
    const { free, size } = this.engine.kv;
    return 1 - free / size;
  }

  /** Takes the call into the engine's queue. */
  add(job: Job, nowMs: number): void {
    job.readBlocks();
    if (this.engine.add(job, nowMs) === undefined) throw new Error(`call ${job.id} does not fit its engine`);
    if (Number.isNaN(this.engine.stepEnd)) this.agenda.set(this.#stepBegin, nowMs);
  }

  result(): EngineResult {
    const { totals, kv } = this.engine;
    const kvUsage = this.#busyMs === 0 ? 0 : this.#heldBlockMs / this.#busyMs / kv.size;
    return { engine: this.id, ...totals, busyMs: this.#busyMs, kvUsage };
  }

  #beginStep(): void {
    const nowMs = this.#stepBegin.atMs;
    const endMs = this.engine.begin(nowMs);
    if (endMs === undefined) return;
    this.#begunMs = nowMs;
    this.agenda.set(this.#stepEnd, endMs);
  }

  #endStep(): void {
    const { kv, stepEnd: nowMs } = this.engine;
    const durationMs = nowMs - this.#begunMs;
    this.#busyMs += durationMs;
    this.#heldBlockMs += durationMs * (kv.size - kv.free);
    const seen = this.engine.end();
    // Copied, since what finishes may bring in what it is to be told apart from.
    const finished: Sequence<Job>[] = [];
    for (const sequence of seen) {
      const { work } = sequence;
      if (!work.started) {
        work.started = true;
        this.ports.started(work, sequence);
      }
      if (sequence.state === 'finished') finished.push(sequence);
    }
    for (const sequence of finished) this.ports.finished(sequence.work, sequence);
    this.agenda.set(this.#stepBegin, nowMs);
  }
}
