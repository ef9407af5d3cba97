import { callId, millis, programId, type CallId, type Dispatch, type Reject } from '../../src/index.js';
import type { Sequence } from '../engine/sequence.js';
import { RANK, type Agenda } from './agenda.js';
import { Clients, Draws, Faults, type Fault } from './faults.js';
import { Declarations, serviceMs } from './declared.js';
import { Fleet } from './fleet.js';
import { Cluster } from './cluster.js';
import { Gateway, type GatewayPorts } from './gateway.js';
import type { Job } from './job.js';
import type { GatewayOptions } from './options.js';
import { callArrived, callFinished } from './told.js';

/** Time in which an engine, or its machine, answers with an error. */
const ANSWER_MS = 5;
/** As in the gateway: the rest of an engine that cannot be reached, and the first pause of a call that one broke. */
const UNREACHED_MS = 250;
const PAUSE_MS = 100;

export interface CallPorts {
  retried(reason: string): void;
  /** The call is over; without a sequence it has no answer. */
  ended(job: Job, outcome: string, sequence?: Sequence<Job>): void;
}

/**
 * Calls between their clients, the gateway and the engines.
 *
 *     away ──asked──> open: queued ──dispatch──> running ──> finished
 *      ^                      ^ `---- busy, broken ----'  |
 *      `──── asked again ─────'── refused, cancelled, lost ┴──> ended without an answer
 */
export class Calls {
  readonly gateway: Gateway | Cluster;
  readonly fleet: Fleet;
  readonly #clients: Clients;
  readonly #faults: Faults;
  readonly #draws: Draws;
  readonly #declarations: Declarations;
  /** Calls known to the gateway, by the id of their last request. */
  readonly #open = new Map<CallId, Job>();
  #requests = 0;

  constructor(
    private readonly options: GatewayOptions,
    private readonly agenda: Agenda,
    private readonly ports: CallPorts,
  ) {
    const { conditions = {}, seed } = options;
    const gatewayPorts: GatewayPorts = {
      dispatch: (command) => this.#dispatch(command),
      reject: (command) => this.#gatewayRefused(command),
    };
    const { cluster } = options;
    this.gateway = cluster
      ? new Cluster({ ...options, cluster }, agenda, gatewayPorts)
      : new Gateway(options, agenda, gatewayPorts);
    this.fleet = new Fleet(options, agenda, this.gateway, {
      started: ({ id, streams }) => streams && this.gateway.tell({ type: 'callStarted', call: id }),
      finished: (job, sequence) => this.#finish(job, sequence),
      dropped: (jobs) => this.#drop(jobs),
    });
    this.#draws = new Draws(seed);
    this.#clients = new Clients(conditions, this.#draws, this.fleet.contextTokensMax);
    this.#declarations = new Declarations(this.#draws, conditions.declarations);
    this.#faults = new Faults(conditions, this.#draws, this.fleet.contextTokensMax);
  }

  open(): void {
    this.fleet.open(this.#draws);
    for (const atMs of this.options.conditions?.gatewayRestarts?.atMs ?? [])
      this.agenda.at(RANK.fault, atMs, () => this.#restartGateway());
  }

  /** Hashes of the beginning of an open call's prompt, as a gateway could read them; none of any other. */
  prefixOf(id: CallId): readonly number[] {
    const job = this.#open.get(id);
    return job?.played.layout.prefix(job.index, job.promptTokens) ?? [];
  }

  /** The client sends the call, for the first time or again. */
  ask(job: Job): void {
    const { gateway, agenda } = this;
    const { scheduler } = gateway;
    const id = (job.id = callId(`c${this.#requests++}`));
    this.fleet.resumeReports();
    job.engine = undefined;
    job.dispatchedMs = NaN;
    job.requests += 1;
    if (job.requests === 1) {
      job.arrivedMs = agenda.nowMs;
      job.played.run.made();
      job.streams = this.#clients.streams(job);
      job.askedTokens = this.#clients.firstPromptTokens(job);
    }
    const refusal = this.#refusal(job);
    if (refusal !== undefined) return this.#end(job, refusal);
    this.#open.set(id, job);
    scheduler.oracle?.arrives(id, job.played.leftMs);
    this.#leavesAfter(job, this.#clients.timeoutMs(job), 'client_timeout');
    this.#leavesAfter(job, this.#clients.cancelAfterMs(job), 'cancelled');
    const remaining = scheduler.readsRemaining === true ? this.#declarations.remaining(job) : undefined;
    gateway.tell(callArrived(job, remaining, this.options));
  }

  /**
   * The reason for not sending the call at all. Without the over-long condition, no client sends a call beyond the
   * engines' limit, so that it costs every policy the same.
   */
  #refusal({ askedTokens }: Job): string | undefined {
    if (askedTokens < 1) return 'empty_prompt';
    const isTold = this.options.conditions?.overlong !== undefined;
    return askedTokens >= this.fleet.contextTokensMax && !isTold ? 'too_long' : undefined;
  }

  #leavesAfter(job: Job, afterMs: number, reason: string): void {
    if (afterMs === Infinity) return;
    const { id } = job;
    this.agenda.at(RANK.clientLeaves, this.agenda.nowMs + afterMs, () => {
      if (this.#open.get(id) !== job) return;
      this.#close(job);
      const mayReturn = Number.isNaN(job.dispatchedMs);
      this.gateway.tell({ type: 'callCancelled', call: id, ...(mayReturn && { mayReturn }) });
      this.#unanswered(job, reason);
    });
  }

  #dispatch({ call, engine }: Dispatch): void {
    const job = this.#open.get(call);
    if (job === undefined) return;
    const replica = this.fleet.get(engine);
    job.dispatchedMs = this.agenda.nowMs;
    job.engine = engine;
    job.dispatches += 1;
    job.failsLoad = this.#faults.failsLoad(job);
    const fault = replica.isUp
      ? this.#faults.of(job, replica.index, this.agenda.nowMs)
      : ({ type: 'unreached', restMs: UNREACHED_MS } as const);
    const { outsideMs = 0 } = this.options;
    if (fault === undefined && outsideMs === 0) return replica.add(job, this.agenda.nowMs);
    this.agenda.at(RANK.fault, this.agenda.nowMs + outsideMs + (fault ? ANSWER_MS : 0), () => {
      if (this.#open.get(call) !== job) return;
      if (fault === undefined) replica.add(job, this.agenda.nowMs);
      else this.#engineFailed(job, fault);
    });
  }

  #engineFailed(job: Job, fault: Fault): void {
    const { id } = job;
    if (fault.type === 'refused') {
      this.#close(job);
      this.gateway.tell({ type: 'callFailed', call: id, failure: 'refused' });
      return this.#unanswered(job, fault.outcome);
    }
    job.engine = undefined;
    job.dispatchedMs = NaN;
    if (fault.type !== 'broken')
      return this.gateway.tell({ type: 'callFailed', call: id, failure: fault.type, restMs: millis(fault.restMs) });
    const jitter = 0.5 + this.#draws.ofCall('pause', job, job.dispatches);
    this.gateway.tell({ type: 'callFailed', call: id, failure: 'broken', pauseMs: millis(PAUSE_MS * jitter) });
  }

  /** The calls' engine is lost. Calls whose clients saw part of the answer end; the gateway retries the others. */
  #drop(jobs: readonly Job[]): void {
    for (const job of jobs) {
      const { id } = job;
      if (job.streams && job.started) {
        this.#close(job);
        this.gateway.tell({ type: 'callFailed', call: id, failure: 'lost' });
        this.#unanswered(job, 'stream_broken');
      } else this.#engineFailed(job, { type: 'broken' });
    }
  }

  /** A gateway's `Retry-After` is in whole seconds, and at least one. */
  #gatewayRefused({ call, refusal, retryAfterMs }: Reject): void {
    const job = this.#open.get(call);
    if (job === undefined) return;
    this.#close(job);
    this.#unanswered(job, refusal, 1000 * Math.max(1, Math.ceil((retryAfterMs ?? 0) / 1000)));
  }

  #restartGateway(): void {
    const jobs = [...this.#open.values()];
    for (const job of jobs) this.#close(job);
    this.gateway.restart();
    this.fleet.joinAgain();
    for (const job of jobs) this.#unanswered(job, 'connection_lost');
  }

  #finish(job: Job, sequence: Sequence<Job>): void {
    this.#close(job);
    const { played, index, call } = job;
    const returns = () => played.run.program.calls.some(({ thread }, other) => other > index && thread === call.thread);
    this.gateway.scheduler.oracle?.answered(programId(played.id), call.thread, returns());
    this.gateway.tell(callFinished(job, sequence));
    this.#end(job, 'completed', sequence);
  }

  #unanswered(job: Job, reason: string, retryAfterMs?: number): void {
    const againMs = this.#clients.asksAgainAfterMs(job, reason, retryAfterMs);
    if (againMs === undefined) return this.#end(job, reason);
    this.ports.retried(reason);
    this.agenda.at(RANK.callArrives, this.agenda.nowMs + againMs, () => this.ask(job));
  }

  #end(job: Job, outcome: string, sequence?: Sequence<Job>): void {
    const { scheduler } = this.gateway;
    if (scheduler.oracle !== undefined) job.played.leftMs -= serviceMs(this.options.engine.preset, job.call);
    this.ports.ended(job, outcome, sequence);
  }

  #close(job: Job): void {
    this.#open.delete(job.id);
    if (job.engine !== undefined) this.fleet.get(job.engine).abort(job, this.agenda.nowMs);
    if (this.#open.size === 0) this.fleet.idle();
    this.gateway.scheduler.oracle?.ended(job.id);
  }
}
