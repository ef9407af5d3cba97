import { millis, type Dispatch, type EngineId, type Event, type Millis, type ProgramId } from '../../src/index.js';
import type { Observer } from '../calls/observers.js';
import type { CallHandle, CallReport, CallSpec, FailureCause } from '../calls/spec.js';
import { span } from '../../text/index.js';
import { ERRORS, type ErrorCode } from '../errors.js';
import type { Completions } from '../metrics/completions.js';
import { isBackground } from './known-programs.js';
import { wallMs } from './wall-clock.js';
import { joined, Series, type Step, type Reading, type Told } from './steps.js';

/** Lengths of the steps of which each range keeps 60. */
const STEP_MS = { '5m': 5000, '1h': 60_000, '1d': 1_440_000 } as const;
export type Range = keyof typeof STEP_MS;
export const RANGES = Object.keys(STEP_MS) as readonly Range[];
const READ_MS = 5000;
const MARKS = 200;
const OUTAGES = 1000;
const LEFT_MAX = 1000;

/** No client makes a call wait too long, an engine refuse the gateway's key, or lose a model or path. */
const NOT_OF_CLIENT = ['queue_timeout', 'engine_401', 'engine_403', 'engine_404'];

/** The code with which a call failed, of an engine's answer its status; undefined: it did not. */
export const faultIn = ({ outcome, code, status, refusal = status }: CallReport): string | undefined =>
  outcome === 'completed' ? undefined : (code ?? `engine_${refusal}`);

/** Whose fault the end of a call was. That it found no room is none of its client. */
export function faultOf(end: string): 'client' | 'service' {
  const own = (ERRORS as Partial<Record<string, { readonly status: number }>>)[end]?.status;
  const status = own ?? Number(/^engine_(\d+)$/.exec(end)?.[1]);
  const isClient = status >= 400 && status < 500 && status !== 429 && !NOT_OF_CLIENT.includes(end);
  return isClient ? 'client' : 'service';
}

export interface TotalsPorts {
  readonly completions: Completions;
  readonly reading: () => Reading;
  readonly now: () => Millis;
  /** Why an engine is down; undefined: it is not. */
  readonly troubleOf: (engine: EngineId) => string | undefined;
}

/** A time in which an engine was out of service, or still is. */
export interface Outage {
  readonly engine: EngineId;
  readonly fromMs: number;
  untilMs?: number;
  /** The last error, or that an operator or discovery drained it. */
  reason: string;
}

export const DRAINED = 'drained';

/** Something that was told, behind the Unix time in seconds. */
const toldAt = (ms: number, text: string): string => `${Math.round(wallMs(ms)) / 1000} ${text}`;

/** A call, or a request that became none, whose program is known if the gateway let it in. */
type Whose = Partial<Pick<CallSpec, 'line'>> & { readonly identity: { readonly program: ProgramId | undefined } };

export type TotalsView = ReturnType<Totals['read']>;

/** The last five minutes, hour and day. Times are milliseconds on the driver's clock. */
export class Totals implements Observer {
  readonly #series = RANGES.map((range) => new Series(STEP_MS[range]));
  /** Moments that explain bends in the curves. */
  readonly #marks: { readonly atMs: number; readonly text: string }[] = [];
  readonly #outages: Outage[] = [];
  /** The last running calls whose clients left: it may turn out that their engines were dead. */
  readonly #left: (Pick<CallSpec, 'identity'> & { readonly report: CallReport; readonly atMs: Millis })[] = [];
  /** Unix time in seconds of the first of the readings that show an overload. */
  #crowdedSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly ports: TotalsPorts) {
    // Quantiles cannot follow corrections.
    ports.completions.add({
      counted: (seconds, atMs) => this.#each(atMs, (step) => step.completions.took(1000 * seconds)),
      unanswered: (seconds, atMs) => this.#each(atMs, (step) => step.unanswered.took(1000 * seconds)),
    });
  }

  /** Reads the state every five seconds from now on. */
  start(): void {
    this.mark('the gateway started');
    this.#timer ??= setInterval(() => this.look(), READ_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  look(): void {
    this.ports.completions.count();
    const reading = this.ports.reading();
    const { crowd = 0, in_flight: running = 0 } = reading;
    const now = this.ports.now();
    const crowded_since = crowd > running ? (this.#crowdedSince ?? Math.round(wallMs(now) / 1000)) : undefined;
    this.#crowdedSince = crowded_since;
    // Each reading tells it, as an overload outlasts the steps.
    this.#each(now, (step) => step.read({ ...reading, ...(crowded_since && { crowded_since }) }));
  }

  mark(text: string): void {
    this.#marks.push({ atMs: this.ports.now(), text });
    if (this.#marks.length > MARKS) this.#marks.shift();
  }

  /** Marks engines that go and come back. An engine also joins anew when what is known of it changes. */
  heard(event: Event): void {
    if (event.type === 'engineLost' || event.type === 'engineDrained') {
      this.#back(event.engine);
      const sinceMs = this.ports.now() - (event.type === 'engineLost' ? (event.silentMs ?? 0) : 0);
      const reason = this.ports.troubleOf(event.engine) ?? DRAINED;
      this.#outages.push({ engine: event.engine, fromMs: sinceMs, reason });
      if (this.#outages.length > OUTAGES) this.#outages.shift();
      if (event.type === 'engineDrained') return this.mark(`${event.engine} is draining`);
      this.mark(`${event.engine} is down`);
      this.#blame(event.engine, sinceMs);
    } else if (event.type === 'engineJoined' && event.down !== true) {
      if (this.#back(event.engine)) this.mark(`${event.engine} is up again`);
    }
  }

  /** @returns whether the engine was out of service */
  #back(engine: EngineId): boolean {
    const outage = this.#outages.findLast((each) => each.engine === engine);
    if (outage === undefined || outage.untilMs !== undefined) return false;
    outage.untilMs = this.ports.now();
    // Probes may have found out more.
    outage.reason = this.ports.troubleOf(engine) ?? outage.reason;
    return true;
  }

  dispatched(_spec: unknown, { engine }: Pick<Dispatch, 'engine'>): void {
    this.#each(this.ports.now(), (step) => step.failures.add(engine, 0));
  }

  /** Only for the last five minutes: which engine is slow is of the present. */
  began(engine: EngineId, firstTokenMs: number): void {
    this.#series[0]?.at(this.ports.now()).firstTokensOf(engine).took(firstTokenMs);
  }

  /** An engine without room is none that fails. */
  engineFailed(_spec: unknown, engine: EngineId, cause: FailureCause, message = ''): void {
    if (cause !== 'busy') this.#failed(engine, message, this.ports.now());
  }

  refused(spec: Whose, code: ErrorCode, nowMs: Millis): void {
    this.#end(spec, code, nowMs);
  }

  ended({ spec }: Pick<CallHandle, 'spec'>, report: CallReport, nowMs: Millis): void {
    const { queueMs, dispatch, usage, outcome, wasRunning } = report;
    if (outcome !== 'cancelled') this.#end(spec, faultIn(report) ?? outcome, nowMs, dispatch?.engine);
    else if (wasRunning) this.#left.push({ identity: spec.identity, report, atMs: nowMs });
    if (this.#left.length > LEFT_MAX) this.#left.shift();
    this.#each(nowMs, (step) => {
      if (outcome === 'cancelled') step.left.add(wasRunning ? 'running' : 'waiting', 1);
      if (!isBackground(spec)) step.queues.took(queueMs);
      if (usage?.cachedTokens !== undefined)
        step.cached.add(dispatch?.engine ?? '', usage.cachedTokens, usage.promptTokens);
      if (outcome === 'completed' && dispatch !== undefined) step.answers.add(dispatch.engine, 1);
    });
  }

  /** The steps of a range up to `now`, and their sum. @param others of other gateways, which may begin up to one step off */
  read(now: Millis, range: Range = '5m', others: readonly (readonly Told[])[] = []) {
    this.ports.completions.count();
    const stepMs = STEP_MS[range];
    const { steps: own, firstMs } = (this.#series[RANGES.indexOf(range)] as Series).read(now);
    const steps =
      others.length === 0 ? own : own.map((step, at) => joined([step, ...others.flatMap((steps) => steps[at] ?? [])]));
    const sum = joined(steps);
    const marks = this.#marks.filter(({ atMs }) => atMs >= firstMs);
    const outages = this.#outages.filter(({ untilMs = Infinity }) => untilMs >= firstMs);
    return { steps, sum, stepMs, firstMs, marks, outages };
  }

  /** Calls that were left since the last sign of life of an engine that is down have failed, as those fail that hang there. So say their reports from now on. */
  #blame(engine: EngineId, sinceMs: number): void {
    for (const { identity, report, atMs } of this.#left) {
      if (report.outcome !== 'cancelled' || report.dispatch?.engine !== engine || atMs < sinceMs) continue;
      const message = `silent for ${span(atMs - sinceMs)} when the client left, and found down ${span(this.ports.now() - atMs)} later`;
      report.outcome = 'timed_out';
      report.code = 'engine_timeout';
      report.failures = [...report.failures, { engine, message, fromMs: millis(atMs - (report.serviceMs ?? 0)), atMs }];
      this.#end({ identity }, report.code, atMs, engine);
      this.#each(atMs, (step) => step.left.add('running', -1));
      this.#failed(engine, message, atMs);
    }
  }

  /** Lines of batches are none: they are asked again until they have an answer. */
  #end({ line, identity }: Whose, end: string, nowMs: Millis, engine?: EngineId): void {
    const whose = `${identity.program ?? ''}${end.startsWith('engine_') && engine ? `\n${engine}` : ''}`;
    if (line === undefined) this.#each(nowMs, (step) => step.ends.add(end, 1, 1, toldAt(nowMs, whose)));
  }

  #failed(engine: EngineId, message: string, atMs: number): void {
    this.#each(atMs, (step) => {
      step.failures.add(engine, 1, 0, toldAt(atMs, message));
      step.answers.add(engine, -step.answers.sumsOf(engine)[0]);
    });
  }

  #each(ms: number, change: (step: Step) => void): void {
    for (const series of this.#series) change(series.at(ms));
  }
}
