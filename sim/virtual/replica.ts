import { Engine, type EngineSettings } from '../engine/engine.js';
import type { Sequence } from '../engine/sequence.js';
import { addTotals, noHostTotals, noTotals } from '../engine/totals.js';
import { Appointment, RANK, type Agenda } from './agenda.js';
import type { Job } from './job.js';

export interface ReplicaPorts {
  started(job: Job): void;
  finished(job: Job, sequence: Sequence<Job>): void;
}

export type EngineResult = Readonly<ReturnType<Replica['result']>>;

/** One engine in virtual time: runs stretches of steps while it has work, until it is lost. */
export class Replica {
  readonly id: string;
  engine: Engine<Job>;
  isUp = true;
  readonly #begin = new Appointment(RANK.stepBegins, () => this.#beginStretch());
  #end: Appointment;
  readonly #sequences = new Map<Job, Sequence<Job>>();
  #begunMs = NaN;
  #busyMs = 0;
  /** Blocks held when the stretch began, and the integral of blocks held over time. */
  #heldBlocks = 0;
  #heldBlockMs = 0;
  /** Totals of its earlier lives. */
  readonly #earlier = noTotals();
  readonly #earlierHost = noHostTotals();

  constructor(
    readonly index: number,
    private readonly settings: EngineSettings,
    private readonly agenda: Agenda,
    private readonly ports: ReplicaPorts,
  ) {
    this.id = `e${index}`;
    this.engine = new Engine(settings);
    this.#end = this.#newEnd();
  }

  load(nowMs: number): { readonly waiting: number; readonly kvUsage: number; readonly preemptions: number } {
    const { engine } = this;
    engine.advance(nowMs);
    return {
      waiting: engine.waiting,
      kvUsage: this.#held() / engine.kv.size,
      preemptions: engine.totals.preemptions,
    };
  }

  add(job: Job, nowMs: number): void {
    const { engine } = this;
    job.begin();
    const sequence = engine.add(job, nowMs);
    if (sequence === undefined) throw new Error(`call ${job.id} does not fit its engine`);
    this.#sequences.set(job, sequence);
    this.#endAt(engine.cut(nowMs), nowMs);
  }

  /** Ends a call early, and returns it as it was then; undefined if the engine does not have it. */
  abort(job: Job, nowMs: number): Sequence<Job> | undefined {
    const sequence = this.#sequences.get(job);
    if (sequence === undefined) return undefined;
    this.#sequences.delete(job);
    this.engine.abort(sequence, nowMs);
    job.dropBlocks();
    this.#endAt(this.engine.stepEnd, nowMs);
    return sequence;
  }

  /** The engine dies, and its cache with it. Returns its calls. */
  lose(nowMs: number): Job[] {
    const jobs = [...this.#sequences.keys()];
    if (!Number.isNaN(this.engine.stepEnd)) this.#account(nowMs);
    for (const job of jobs) job.dropBlocks();
    this.#sequences.clear();
    addTotals(this.#earlier, this.engine.totals);
    if (this.engine.host !== undefined) addTotals(this.#earlierHost, this.engine.host.totals);
    this.isUp = false;
    this.engine = new Engine(this.settings);
    // The stretch under way belonged to the old engine.
    this.#end = this.#newEnd();
    return jobs;
  }

  result() {
    const { totals, kv, host } = this.engine;
    const kvUsage = this.#busyMs === 0 ? 0 : this.#heldBlockMs / this.#busyMs / kv.size;
    return {
      engine: this.id,
      ...addTotals({ ...this.#earlier }, totals),
      /** Time in steps, and the mean share of KV blocks held during it. */
      busyMs: this.#busyMs,
      kvUsage,
      ...(host !== undefined && { host: addTotals({ ...this.#earlierHost }, host.totals) }),
    };
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

  /** Sets the end of the stretch under way. NaN: there is none, and a new one begins. */
  #endAt(endMs: number, nowMs: number): void {
    if (Number.isNaN(endMs)) this.agenda.set(this.#begin, nowMs);
    else if (endMs !== this.#end.atMs) this.agenda.set(this.#end, endMs);
  }

  #beginStretch(): void {
    const nowMs = this.#begin.atMs;
    const endMs = this.engine.begin(nowMs, Infinity);
    if (endMs === undefined) return;
    // Without any that runs, it waits for its host, and is not busy.
    this.#begunMs = this.engine.running === 0 ? NaN : nowMs;
    this.#heldBlocks = this.#held();
    this.agenda.set(this.#end, endMs);
  }

  #account(nowMs: number): void {
    if (Number.isNaN(this.#begunMs)) return;
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
    this.agenda.set(this.#begin, nowMs);
  }
}
