import { programId } from '../../src/index.js';
import type { Sequence } from '../engine/sequence.js';
import type { CallOutcome, WorldOptions } from './options.js';
import { Agenda, type Appointment, RANK } from './agenda.js';
import { Calls } from './calls.js';
import { Layout, Texts } from './content.js';
import { Job, type Played } from './job.js';
import { ProgramRun } from './program-run.js';
import { sizeMs } from './declared.js';
import { Source } from './source.js';
import type { EngineSettings } from '../engine/engine.js';
import type { AgentProgram } from '../../workloads/index.js';
import { Replica } from './replica.js';

const STOP_EVERY = 1024;

/**
 * Runs programs through a scheduler and engines in virtual time. The scheduler is told only what a gateway would tell
 * it. It learns nothing in advance of calls' lengths, of calls to come, or of programs' ends unless clients announce
 * them.
 *
 *     source ──programs──> graph of calls ──callArrived──> scheduler ──dispatch──> replicas
 *                                 ^                            ^                      │
 *                                 └────────── ended ───────────┴── callFinished ──────┘
 *
 * A function of its options: no clock, and no randomness but the seed's. Memory grows with the programs under way, not
 * with those that have ended.
 * @throws RangeError for invalid options or programs, and any error of the programs' own iterator
 */
export const runWorld = (options: WorldOptions) => new World(options).run();
export type WorldResult = ReturnType<typeof runWorld>;

class World {
  readonly #agenda = new Agenda();
  readonly #source: Source;
  readonly #calls: Calls;
  readonly #texts: Texts;
  readonly #aloneMs: ReturnType<typeof aloneOn> | undefined;
  readonly #programOutcomes: Record<string, number> = {};
  readonly #callOutcomes: Record<string, number> = {};
  readonly #retries: Record<string, number> = {};
  /** Programs that have arrived or are about to, and have not ended. */
  #open = 0;
  #arrivals = 0;

  constructor(private readonly options: WorldOptions) {
    const { engine, alone = true } = options;
    this.#source = new Source(options);
    this.#calls = new Calls(
      { ...options, scheduler: () => options.scheduler((id) => this.#calls.prefixOf(id)) },
      this.#agenda,
      {
        retried: (reason) => count(this.#retries, reason),
        ended: (job, outcome, sequence) => this.#callEnded(job, outcome, sequence),
      },
    );
    this.#texts = new Texts(engine.blockSize, this.#calls.fleet.blocks + 1);
    if (alone) this.#aloneMs = aloneOn(engine);
  }

  run() {
    const { gateway, fleet } = this.#calls;
    this.#calls.open();
    for (let left = Math.max(1, this.#source.concurrency); left > 0; left -= 1) this.#expect();
    let complete = true;
    for (let count = 1; this.#open > 0; count += 1) {
      if (count % STOP_EVERY === 0 && this.options.shouldStop?.() === true) {
        complete = false;
        break;
      }
      // Load reports pause only when a call is to come, so that there is always a next event.
      (this.#agenda.take() as Appointment).happen();
    }
    this.#source.close();
    return {
      complete,
      programOutcomes: this.#programOutcomes,
      callOutcomes: this.#callOutcomes,
      retries: this.#retries,
      promotions: gateway.promotions,
      engines: fleet.results(),
    };
  }

  #expect(): void {
    const arrival = this.#source.next(this.#agenda.nowMs);
    if (arrival === undefined) return;
    this.#open += 1;
    this.#agenda.at(RANK.programArrives, arrival.atMs, () => this.#begin(arrival.program));
  }

  #begin(program: AgentProgram): void {
    const { nowMs } = this.#agenda;
    const run = new ProgramRun(program, nowMs);
    const index = this.#arrivals++;
    const isForeseen = this.#calls.gateway.scheduler.oracle !== undefined;
    const leftMs = isForeseen ? sizeMs(this.options.engine.preset, program) : 0;
    const layout = new Layout(program, this.#texts);
    const played: Played = { id: `p${index}`, index, run, layout, leftMs };
    for (const call of run.opening()) this.#plan(played, call);
    if (this.#source.concurrency === 0) this.#expect();
    if (program.calls.length > 0) return;
    run.outcome = 'empty';
    this.#endProgram(played);
  }

  #plan(played: Played, call: number): void {
    const job = new Job(played, call, this.#calls.fleet.contextTokensMax);
    this.#agenda.at(RANK.callArrives, this.#agenda.nowMs + job.call.gapMs, () => this.#calls.ask(job));
  }

  #callEnded(job: Job, outcome: CallOutcome, sequence: Sequence<Job> | undefined): void {
    const { played, index, promptTokens, outputTokens } = job;
    const { run } = played;
    this.#observe(job, outcome, sequence?.firstTokenAt ?? NaN, sequence?.cachedTokens ?? 0);
    if (sequence === undefined) run.failed(index, outcome);
    else for (const next of run.completed(index, promptTokens, outputTokens)) this.#plan(played, next);
    if (run.open === 0) this.#endProgram(played);
  }

  #observe(job: Job, outcome: CallOutcome, firstTokenMs: number, cachedTokens: number): void {
    const { played, index, call, arrivedMs, dispatchedMs, engine, promptTokens } = job;
    const { nowMs } = this.#agenda;
    const waitedMs = (Number.isNaN(dispatchedMs) ? nowMs : dispatchedMs) - arrivedMs;
    played.run.longestQueueMs = Math.max(played.run.longestQueueMs, waitedMs);
    count(this.#callOutcomes, outcome);
    this.options.observer.callEnded?.({
      program: played.run.program.id,
      workload: played.run.program.workload ?? '',
      call: index,
      thread: call.thread,
      arrivedMs,
      dispatchedMs,
      firstTokenMs,
      endedMs: nowMs,
      engine,
      promptTokens,
      outputTokens: outcome === 'completed' ? job.outputTokens : 0,
      cachedTokens,
      outcome,
    });
  }

  #endProgram(played: Played): void {
    const { run, id } = played;
    const { nowMs } = this.#agenda;
    const aloneMs = run.outcome === 'completed' ? (this.#aloneMs?.(played) ?? NaN) : NaN;
    this.#open -= 1;
    count(this.#programOutcomes, run.outcome);
    this.options.observer.programEnded(run.record(nowMs, aloneMs));
    if (this.options.announceEnds === true) this.#calls.gateway.tell({ type: 'programEnded', program: programId(id) });
    if (this.#source.concurrency > 0) this.#expect();
  }
}

/**
 * Runs programs one by one on an engine of their own, each on an initially empty cache and with no other load.
 * @returns tells the time from a program's arrival to the end of its last call; the engine must accept all of its calls
 */
function aloneOn(settings: EngineSettings): (played: Played) => number {
  const agenda = new Agenda();
  let nowMs = 0;
  const replica = new Replica(0, settings, agenda, {
    started: () => undefined,
    finished: ({ played, index }) => {
      for (const next of played.run.completed(index, 0, 0)) plan(played, next);
    },
  });
  const plan = (played: Played, call: number): void => {
    const job = new Job(played, call, replica.engine.maxModelLen);
    agenda.at(RANK.callArrives, nowMs + job.call.gapMs, () => replica.add(job, nowMs));
  };
  return (played) => {
    const run = new ProgramRun(played.run.program, 0);
    nowMs = 0;
    replica.engine.reset();
    const alone = { ...played, run };
    for (const call of run.opening()) plan(alone, call);
    for (let next = agenda.take(); next !== undefined; next = agenda.take()) {
      nowMs = next.atMs;
      next.happen();
    }
    return nowMs;
  };
}

function count(counts: Record<string, number>, outcome: string): void {
  counts[outcome] = (counts[outcome] ?? 0) + 1;
}
