import {
  callId,
  engineId,
  millis,
  modelId,
  programId,
  tenantId,
  tokens,
  type CallId,
  type Command,
  type Dispatch,
  type Event,
} from '../../src/index.js';
import type { Sequence } from '../engine/sequence.js';
import type { CallOutcome } from './records.js';
import { Agenda, Appointment, RANK } from './agenda.js';
import { Alone } from './alone.js';
import { Texts } from './content.js';
import { Job, type Played } from './job.js';
import type { WorldOptions, WorldResult } from './options.js';
import { ProgramRun } from './program-run.js';
import { Replica, type ReplicaPorts } from './replica.js';
import { serviceMs } from './service.js';
import { Source, wholeFrom, type Arrival } from './source.js';
import { Tally } from './tally.js';

/** As the gateway scrapes its engines by default. */
const REPORT_MS = 2000;
/** Reports of a system without calls, one like the other, after which there are none until a call comes. */
const IDLE_REPORTS_MAX = 1000;
/** Things that happen between two looks at whether to stop. */
const STOP_EVERY = 1024;
const MODEL = modelId('m');
const TENANT = tenantId('t');

/**
 * Runs programs through a scheduler and engines in virtual time. The scheduler is told what a gateway would tell it, no more:
 * nothing of what calls will turn out to be, of calls to come, or of programs' ends unless clients announce them.
 *
 *     source ──programs──> graph of calls ──callArrived──> scheduler ──dispatch──> replicas
 *                                 ^                            ^                      │
 *                                 └────────── ended ───────────┴── callFinished ──────┘
 *
 * A function of its options: no clock and no chance but the seed's. Memory grows with the programs under way, not with
 * those that have ended.
 * @throws RangeError for options and programs that make no sense, and whatever the programs' own iterator throws
 */
export function runWorld(options: WorldOptions): WorldResult {
  return new World(options).run();
}

class World {
  readonly #agenda = new Agenda();
  readonly #source: Source;
  readonly #replicas = new Map<string, Replica>();
  readonly #texts: Texts;
  readonly #alone: Alone | undefined;
  /** Longest conversation that an engine takes. */
  readonly #contextTokensMax: number;
  readonly #jobs = new Map<CallId, Job>();
  readonly #wake = new Appointment(RANK.wake, () => this.#tell({ type: 'woke' }));
  readonly #tally = new Tally();
  /** Events that came while commands were being carried out: steps never nest. */
  readonly #pending: Event[] = [];
  #telling = false;
  #nowMs = 0;
  /** Programs that have arrived or are about to, and have not ended. */
  #open = 0;
  #arrivals = 0;
  #callsArrived = 0;
  readonly #reportMs: number;
  /** Since there was a call; minus infinity while there is one. */
  #idleReports = 0;
  readonly #paused: Appointment[] = [];

  constructor(private readonly options: WorldOptions) {
    const { engine, alone = true, reports: { everyMs: reportMs = REPORT_MS } = {} } = options;
    this.#reportMs = reportMs;
    wholeFrom(1, 'engines', options.engines);
    this.#source = new Source(options);
    const ports: ReplicaPorts = {
      started: ({ id }) => this.#tell({ type: 'callStarted', call: id }),
      finished: (job, sequence) => this.#finish(job, sequence),
      progressed:
        options.scheduler.readsProgress === true
          ? ({ id }, count) => this.#tell({ type: 'callProgressed', call: id, outputTokens: tokens(count) })
          : undefined,
    };
    for (let index = 0; index < options.engines; index += 1)
      this.#replicas.set(`e${index}`, new Replica(`e${index}`, engine, this.#agenda, ports));
    const [{ engine: first }] = [...this.#replicas.values()] as [Replica];
    this.#contextTokensMax = first.maxModelLen;
    this.#texts = new Texts(engine.blockSize, first.kv.size + 1);
    if (alone) this.#alone = new Alone(engine);
  }

  run(): WorldResult {
    for (const replica of this.#replicas.values()) this.#join(replica);
    for (let left = Math.max(1, this.#source.concurrency); left > 0; left -= 1) this.#expect();
    let complete = true;
    for (let count = 1; this.#open > 0; count += 1) {
      if (count % STOP_EVERY === 0 && this.options.shouldStop?.() === true) {
        complete = false;
        break;
      }
      // Load reports end only where a call is to come, so that there is always a next thing.
      const next = this.#agenda.take() as Appointment;
      this.#nowMs = next.atMs;
      next.happen();
    }
    this.#source.close();
    const engines = [...this.#replicas.values()].map((replica) => replica.result());
    return this.#tally.result(complete, this.options.scheduler.totals?.promotions ?? 0, engines);
  }

  #join(replica: Replica): void {
    const { kv } = replica.engine;
    const capacityTokens = tokens(kv.size * this.options.engine.blockSize);
    this.#tell({ type: 'engineJoined', engine: engineId(replica.id), models: [MODEL], capacityTokens });
    const report = new Appointment(RANK.report, () => {
      this.#report(replica);
      this.#idleReports += 1;
      if (this.#idleReports > IDLE_REPORTS_MAX * this.options.engines) this.#paused.push(report);
      else this.#agenda.set(report, this.#nowMs + this.#reportMs);
    });
    this.#agenda.set(report, 0);
  }

  /** A call comes: reports go on, at the times at which they would have come. */
  #resumeReports(): void {
    this.#idleReports = -Infinity;
    for (const report of this.#paused.splice(0))
      this.#agenda.set(report, Math.ceil(this.#nowMs / this.#reportMs) * this.#reportMs);
  }

  #report(replica: Replica): void {
    const { staleMs = 0 } = this.options.reports ?? {};
    const event: Event = { type: 'engineReported', engine: engineId(replica.id), ...replica.load(this.#nowMs) };
    if (staleMs === 0) this.#tell(event);
    else this.#agenda.set(new Appointment(RANK.report, () => this.#tell(event)), this.#nowMs + staleMs);
  }

  /** Waits for the next program. */
  #expect(): void {
    const arrival = this.#source.next(this.#nowMs);
    if (arrival === undefined) return;
    this.#open += 1;
    this.#agenda.set(new Appointment(RANK.programArrives, () => this.#begin(arrival)), arrival.atMs);
  }

  #begin({ program }: Arrival): void {
    const run = new ProgramRun(program, this.#nowMs);
    const { scheduler, engine } = this.options;
    const leftMs =
      scheduler.oracle === undefined ? 0 : program.calls.reduce((sum, call) => sum + serviceMs(engine.preset, call), 0);
    const played: Played = { id: `p${this.#arrivals}`, run, layout: this.#texts.layOut(program), leftMs };
    this.#arrivals += 1;
    this.#tally.arrived(this.#nowMs);
    for (const call of run.opening()) this.#plan(played, call);
    if (this.#source.concurrency === 0) this.#expect();
    if (program.calls.length > 0) return;
    run.outcome = 'empty';
    this.#endProgram(played);
  }

  #plan(played: Played, call: number): void {
    const job = new Job(played, call, this.#contextTokensMax);
    const arrival = new Appointment(RANK.callArrives, () => this.#arrive(job));
    this.#agenda.set(arrival, this.#nowMs + job.call.gapMs);
  }

  #arrive(job: Job): void {
    const { played, call, index, promptTokens } = job;
    const { readsPrefix = false, oracle } = this.options.scheduler;
    const id = (job.id = callId(`c${this.#callsArrived++}`));
    this.#resumeReports();
    job.arrivedMs = this.#nowMs;
    played.run.made();
    const refusal = job.refusal(this.#contextTokensMax);
    if (refusal !== undefined) return this.#fail(job, refusal);
    this.#jobs.set(id, job);
    oracle?.arrives(id, serviceMs(this.options.engine.preset, call), played.leftMs);
    const family = played.layout.family(call.thread);
    this.#tell({
      type: 'callArrived',
      call: id,
      program: programId(played.id),
      tenant: TENANT,
      thread: call.thread,
      model: MODEL,
      promptTokens: tokens(promptTokens),
      ...(family !== undefined && { family }),
      ...(readsPrefix && { prefix: played.layout.prefix(index, promptTokens) }),
    });
  }

  #finish(job: Job, sequence: Sequence<Job>): void {
    const { id, played, promptTokens, outputTokens, call, dispatchedMs } = job;
    const { scheduledAt, endedAt, cachedTokens, firstTokenAt } = sequence;
    this.#forget(job);
    this.#tell({
      type: 'callFinished',
      call: id,
      usage: {
        promptTokens: tokens(promptTokens),
        outputTokens: tokens(outputTokens),
        cachedTokens: tokens(cachedTokens),
      },
      serviceMs: millis(endedAt - scheduledAt),
      queueMs: millis(scheduledAt - dispatchedMs),
      // Nobody sees whether there will be a next call: only what the answer asks for.
      ...(call.tools !== undefined && call.tools.length > 0 && { calledTool: true }),
    });
    this.#observe(job, 'completed', firstTokenAt, cachedTokens);
    for (const next of played.run.completed(job.index, promptTokens, outputTokens)) this.#plan(played, next);
    if (played.run.open === 0) this.#endProgram(played);
  }

  /** The call ends without an answer. */
  #fail(job: Job, outcome: CallOutcome): void {
    const { played, index } = job;
    this.#forget(job);
    this.#observe(job, outcome, NaN, 0);
    this.#tally.cancelled(played.run.failed(index, outcome));
    if (played.run.open === 0) this.#endProgram(played);
  }

  #forget(job: Job): void {
    const { scheduler, engine } = this.options;
    this.#jobs.delete(job.id);
    if (this.#jobs.size === 0) this.#idleReports = 0;
    if (scheduler.oracle === undefined) return;
    scheduler.oracle.ended(job.id);
    job.played.leftMs -= serviceMs(engine.preset, job.call);
  }

  #observe(job: Job, outcome: CallOutcome, firstTokenMs: number, cachedTokens: number): void {
    const { played, index, call, arrivedMs, dispatchedMs, engine, promptTokens } = job;
    const waitedMs = (Number.isNaN(dispatchedMs) ? this.#nowMs : dispatchedMs) - arrivedMs;
    played.run.longestQueueMs = Math.max(played.run.longestQueueMs, waitedMs);
    this.#tally.callEnded(outcome);
    this.options.observer.callEnded?.({
      program: played.run.program.id,
      call: index,
      thread: call.thread,
      arrivedMs,
      dispatchedMs,
      firstTokenMs,
      endedMs: this.#nowMs,
      engine,
      promptTokens,
      outputTokens: outcome === 'completed' ? job.outputTokens : 0,
      cachedTokens,
      outcome,
    });
  }

  #endProgram(played: Played): void {
    const { run, id } = played;
    const aloneMs = run.outcome === 'completed' ? (this.#alone?.completionMs(played) ?? NaN) : NaN;
    this.#open -= 1;
    this.#tally.programEnded(run.outcome, this.#nowMs);
    this.options.observer.programEnded(run.record(this.#nowMs, aloneMs));
    if (this.options.announceEnds === true) this.#tell({ type: 'programEnded', program: programId(id) });
    if (this.#source.concurrency > 0) this.#expect();
  }

  #tell(event: Event): void {
    if (this.#telling) {
      this.#pending.push(event);
      return;
    }
    this.#telling = true;
    const { scheduler, lens } = this.options;
    for (let next: Event | undefined = event; next !== undefined; next = this.#pending.shift())
      for (const command of scheduler.step(lens === undefined ? next : lens(next), millis(this.#nowMs)))
        this.#obey(command);
    this.#telling = false;
  }

  #obey(command: Command): void {
    switch (command.type) {
      case 'dispatch':
        return this.#dispatch(command);
      case 'reject':
        return this.#fail(this.#jobs.get(command.call) as Job, command.refusal);
      case 'wakeAt':
        return this.#agenda.set(this.#wake, Math.max(this.#nowMs, command.at));
      case 'programGone':
        return;
      default:
        command satisfies never;
    }
  }

  #dispatch({ call, engine, level }: Dispatch): void {
    const job = this.#jobs.get(call) as Job;
    job.dispatchedMs = this.#nowMs;
    job.engine = engine;
    job.priority = level;
    (this.#replicas.get(engine) as Replica).add(job, this.#nowMs);
  }
}
