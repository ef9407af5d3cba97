import { Engine, type EngineSettings } from '../engine/engine.js';
import type { Sequence } from '../engine/sequence.js';
import { Appointment, RANK, type Agenda } from './agenda.js';
import type { Job } from './job.js';
import type { EngineResult } from './options.js';

/** As the gateway tells of progress: at the latest after so many tokens, or so long. */
const PROGRESS_TOKENS = 64;
const PROGRESS_MS = 1000;
/** Steps after which the engine is looked at where progress is told. */
const PROGRESS_STEPS = 16;

/** Who hears of the calls of a replica. */
export interface ReplicaPorts {
  started(job: Job): void;
  finished(job: Job, sequence: Sequence<Job>): void;
  /** How far a running call is; absent: nobody asks. */
  readonly progressed?: ((job: Job, outputTokens: number) => void) | undefined;
}

/** One engine in virtual time: from stretch to stretch of steps while it has work. */
export class Replica {
  readonly engine: Engine<Job>;
  readonly #begin: Appointment;
  readonly #end: Appointment;
  /** Running and waiting ones, where progress is told. */
  readonly #watched = new Set<Sequence<Job>>();
  #begunMs = NaN;
  #busyMs = 0;
  /** Blocks held when the stretch began, and blocks held over time so far. */
  #heldBlocks = 0;
  #heldBlockMs = 0;

  constructor(
    readonly id: string,
    settings: EngineSettings,
    private readonly agenda: Agenda,
    private readonly ports: ReplicaPorts,
  ) {
    this.engine = new Engine(settings);
    this.#begin = new Appointment(RANK.stepBegins, () => this.#beginStretch());
    this.#end = new Appointment(RANK.stepEnds, () => this.#endStretch());
  }

  /** What its load report says now. */
  load(nowMs: number): { readonly waiting: number; readonly kvUsage: number; readonly preemptions: number } {
    const { engine } = this;
    engine.advance(nowMs);
    return {
      waiting: engine.waiting,
      kvUsage: this.#held() / engine.kv.size,
      preemptions: engine.totals.preemptions,
    };
  }

  /** Takes the call into the engine's queue. */
  add(job: Job, nowMs: number): void {
    const { engine } = this;
    job.readBlocks();
    const sequence = engine.add(job, nowMs);
    if (sequence === undefined) throw new Error(`call ${job.id} does not fit its engine`);
    if (this.ports.progressed !== undefined) this.#watched.add(sequence);
    const endMs = engine.cut(nowMs);
    if (Number.isNaN(endMs)) this.agenda.set(this.#begin, nowMs);
    else if (endMs !== this.#end.atMs) this.agenda.set(this.#end, endMs);
  }

  result(): EngineResult {
    const { totals, kv } = this.engine;
    const kvUsage = this.#busyMs === 0 ? 0 : this.#heldBlockMs / this.#busyMs / kv.size;
    return { engine: this.id, ...totals, busyMs: this.#busyMs, kvUsage };
  }

  #held(): number {
    return this.engine.kv.size - this.engine.kv.free;
  }

  #beginStretch(): void {
    const nowMs = this.#begin.atMs;
    const endMs = this.engine.begin(nowMs, this.ports.progressed === undefined ? Infinity : PROGRESS_STEPS);
    if (endMs === undefined) return;
    this.#begunMs = nowMs;
    this.#heldBlocks = this.#held();
    this.agenda.set(this.#end, endMs);
  }

  #endStretch(): void {
    const nowMs = this.#end.atMs;
    this.engine.advance(nowMs);
    const durationMs = nowMs - this.#begunMs;
    this.#busyMs += durationMs;
    this.#heldBlockMs += (durationMs * (this.#heldBlocks + this.#held())) / 2;
    for (const sequence of this.engine.end()) {
      const { work } = sequence;
      if (!work.started) {
        work.started = true;
        this.ports.started(work);
      }
      if (sequence.state === 'finished') {
        this.#watched.delete(sequence);
        work.dropBlocks();
        this.ports.finished(work, sequence);
      }
    }
    this.#tellProgress(nowMs);
    this.agenda.set(this.#begin, nowMs);
  }

  #tellProgress(nowMs: number): void {
    for (const { work, generated } of this.#watched) {
      if (generated - work.toldTokens < PROGRESS_TOKENS && nowMs - work.toldMs < PROGRESS_MS) continue;
      if (generated === work.toldTokens) continue;
      work.toldTokens = generated;
      work.toldMs = nowMs;
      this.ports.progressed?.(work, generated);
    }
  }
}
