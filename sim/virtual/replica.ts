import { Engine, type EngineSettings } from '../engine/engine.js';
import type { Sequence } from '../engine/sequence.js';
import { addTotals, noTotals } from '../engine/totals.js';
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

/** One engine in virtual time: from stretch to stretch of steps while it has work, until it is lost. */
export class Replica {
  readonly id: string;
  #engine: Engine<Job>;
  #isUp = true;
  readonly #begin = new Appointment(RANK.stepBegins, () => this.#beginStretch());
  #end: Appointment;
  /** Running and waiting calls. */
  readonly #sequences = new Map<Job, Sequence<Job>>();
  #begunMs = NaN;
  #busyMs = 0;
  /** Blocks held when the stretch began, and blocks held over time so far. */
  #heldBlocks = 0;
  #heldBlockMs = 0;
  /** Of engines that it had before. */
  readonly #earlier = noTotals();

  constructor(
    readonly index: number,
    private readonly settings: EngineSettings,
    private readonly agenda: Agenda,
    private readonly ports: ReplicaPorts,
  ) {
    this.id = `e${index}`;
    this.#engine = new Engine(settings);
    this.#end = this.#newEnd();
  }

  get engine(): Engine<Job> {
    return this.#engine;
  }

  get isUp(): boolean {
    return this.#isUp;
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
    job.begin();
    const sequence = engine.add(job, nowMs);
    if (sequence === undefined) throw new Error(`call ${job.id} does not fit its engine`);
    this.#sequences.set(job, sequence);
    this.#endAt(engine.cut(nowMs), nowMs);
  }

  /** Ends a call early; nothing if the engine does not have it. */
  abort(job: Job, nowMs: number): void {
    const sequence = this.#sequences.get(job);
    if (sequence === undefined) return;
    this.#sequences.delete(job);
    this.engine.abort(sequence, nowMs);
    job.dropBlocks();
    this.#endAt(this.engine.stepEnd, nowMs);
  }

  /** The engine dies, and its cache with it. Returns the calls that it had. */
  lose(nowMs: number): Job[] {
    const jobs = [...this.#sequences.keys()];
    if (!Number.isNaN(this.engine.stepEnd)) this.#account(nowMs);
    for (const job of jobs) job.dropBlocks();
    this.#sequences.clear();
    addTotals(this.#earlier, this.engine.totals);
    this.#isUp = false;
    this.#engine = new Engine(this.settings);
    // The stretch under way was the old one's.
    this.#end = this.#newEnd();
    return jobs;
  }

  restart(): void {
    this.#isUp = true;
  }

  result(): EngineResult {
    const { totals, kv } = this.engine;
    const kvUsage = this.#busyMs === 0 ? 0 : this.#heldBlockMs / this.#busyMs / kv.size;
    return { engine: this.id, ...addTotals({ ...this.#earlier }, totals), busyMs: this.#busyMs, kvUsage };
  }

  #held(): number {
    return this.engine.kv.size - this.engine.kv.free;
  }

  #newEnd(): Appointment {
    const { engine } = this;
    return new Appointment(RANK.stepEnds, () => {
      if (engine === this.engine) this.#endStretch();
    });
  }

  /** The stretch under way ends then; NaN: there is none, and one begins. */
  #endAt(endMs: number, nowMs: number): void {
    if (Number.isNaN(endMs)) this.agenda.set(this.#begin, nowMs);
    else if (endMs !== this.#end.atMs) this.agenda.set(this.#end, endMs);
  }

  #beginStretch(): void {
    const nowMs = this.#begin.atMs;
    const endMs = this.engine.begin(nowMs, this.ports.progressed === undefined ? Infinity : PROGRESS_STEPS);
    if (endMs === undefined) return;
    this.#begunMs = nowMs;
    this.#heldBlocks = this.#held();
    this.agenda.set(this.#end, endMs);
  }

  /** Counts the stretch under way as over. */
  #account(nowMs: number): void {
    this.engine.advance(nowMs);
    const durationMs = nowMs - this.#begunMs;
    this.#busyMs += durationMs;
    this.#heldBlockMs += (durationMs * (this.#heldBlocks + this.#held())) / 2;
  }

  #endStretch(): void {
    const nowMs = this.#end.atMs;
    this.#account(nowMs);
    for (const sequence of this.engine.end()) {
      const { work } = sequence;
      if (!work.started) {
        work.started = true;
        this.ports.started(work);
      }
      if (sequence.state === 'finished') {
        this.#sequences.delete(work);
        work.dropBlocks();
        this.ports.finished(work, sequence);
      }
    }
    if (this.ports.progressed !== undefined) this.#tellProgress(nowMs, this.ports.progressed);
    this.agenda.set(this.#begin, nowMs);
  }

  #tellProgress(nowMs: number, progressed: NonNullable<ReplicaPorts['progressed']>): void {
    for (const [job, { generated }] of this.#sequences) {
      if (generated - job.toldTokens < PROGRESS_TOKENS && nowMs - job.toldMs < PROGRESS_MS) continue;
      if (generated === job.toldTokens) continue;
      job.toldTokens = generated;
      job.toldMs = nowMs;
      progressed(job, generated);
    }
  }
}
