import { Backlog, type Distribution, Gathering, Sample, scaled } from '../../lab/index.js';
import { number } from '../../text/index.js';
import { LEFT } from '../disturbance.js';
import { ERROR_CLASSES, type ErrorClass, type LoadCallRecord, type LoadProgramRecord } from '../load.js';
import type { TargetFacts } from '../preflight.js';

/**
 * The report on one target. Fields of `Measures` mean the same here, except `queue_seconds`: it is the gateway's own
 * report, without lateness of sending. Facts found out before the run are null where unknown.
 */
export type TargetReport = Readonly<ReturnType<Target['report']>>;

/** Share of prompt tokens found in a cache; null if the target never reported any. */
export const cachedShare = ({ cached_tokens, prompt_tokens }: TargetReport): number | null =>
  cached_tokens === null || prompt_tokens === 0 ? null : cached_tokens / prompt_tokens;

/** Programs, of all runs together, below which chance decides whether a queue seems to grow. */
export const KEEPS_UP_PROGRAMS_MIN = 80;

/** Mean programs' times alone for which programs must arrive: in fewer, late ones grow in number under any load. */
const SPANS_MIN = 5;
/** The same in their times under the load, where it slows them: engines that still fill may yet be overloaded. */
export const FILLS = 8;
const FILLING = 1.5;
/** A mean slowdown that no filling explains. */
export const CLEAR = 4;
/** Least share of programs' times that is queueing, or mean slowdown, without which nothing is overloaded. */
const QUEUE_SHARE = 0.05;
const SLOWED = 2;

/** Signs of whether a target is overloaded. */
export type LoadSigns = Readonly<
  Record<'arrivals_seconds' | 'alone_seconds', number | null> &
    Record<'program_seconds' | 'program_queue_seconds' | 'slowdown', Distribution>
>;

type Spans = Pick<LoadSigns, 'arrivals_seconds' | 'alone_seconds'> &
  Partial<Pick<LoadSigns, 'program_seconds' | 'slowdown'>>;

export const isSlowed = ({ slowdown }: Spans): boolean => (slowdown?.mean ?? 0) >= FILLING;

/** How many times as many programs would tell whether the queue grows; undefined: these do, or nothing is known. */
export function moreToTell(spans: Spans): number | undefined {
  const { arrivals_seconds: lasted, alone_seconds: alone, program_seconds: program } = spans;
  if (lasted === null || alone === null) return undefined;
  const needed = Math.max(SPANS_MIN * alone, isSlowed(spans) ? FILLS * (program?.mean ?? 0) : 0);
  return lasted >= needed ? undefined : needed / lasted;
}

/** Whether a queue that seems to grow is an overload; null: programs arrived for too short a time. */
export function isOverload(grew: boolean | null, signs: LoadSigns): boolean | null {
  const { arrivals_seconds, alone_seconds, program_seconds: program, program_queue_seconds: queue, slowdown } = signs;
  // An engine that reports no queue shows it as a slowdown.
  const isOver =
    grew && ((queue.mean ?? 0) >= QUEUE_SHARE * (program.mean ?? 0) || (slowdown.mean ?? Infinity) >= SLOWED);
  const isClear = isOver === true && (slowdown.mean ?? 0) >= CLEAR;
  return moreToTell(isClear ? { arrivals_seconds, alone_seconds } : signs) === undefined ? isOver : null;
}

/** Room for chance: programs of another run take longer, or arrive sooner; and for engines that go on filling. */
const AMPLE = 1.25;
const FILLING_ON = 2;

/** Whether no number of programs tells of an overload, as the time of none alone is known. */
const lacksBase = ({ alone_seconds: alone, completed }: TargetReport): boolean => alone === null && completed > 0;

/** Programs of a run that would tell whether targets sustain a rate; 0: these do, or none would. */
export function programsToTell(targets: readonly TargetReport[]): number {
  const open = targets.filter((target) => target.queue_grew !== true && !isLossy(target) && !lacksBase(target));
  const short = open.map((target) => (amplyMore(target) * target.programs) / target.by_run.length);
  const isFew = open.some(({ programs }) => programs < KEEPS_UP_PROGRAMS_MIN);
  const most = 10 * Math.ceil(Math.max(0, ...short) / 10);
  return most === 0 && !isFew ? 0 : Math.max(KEEPS_UP_PROGRAMS_MIN, most);
}

function amplyMore(target: TargetReport): number {
  const { arrivals_seconds, alone_seconds, slowdown } = target;
  // An overload is told sooner than that engines are full.
  const sooner = (slowdown.mean ?? 0) < CLEAR ? undefined : moreToTell({ arrivals_seconds, alone_seconds });
  return sooner === undefined ? (moreToTell(target) ?? 0) * (isSlowed(target) ? FILLING_ON : AMPLE) : AMPLE * sooner;
}

/** Share of programs that may fail under a load that is sustained. */
const FAILED_SHARE_MAX = 0.01;
/** Share above which those that completed are others than the rest. */
const LOST_SHARE_MAX = 0.1;

type Lost = Pick<TargetReport, 'programs' | 'failed'> & { readonly engine_left?: string | null };

export const isLossy = ({ programs, failed, engine_left: left }: Lost): boolean =>
  failed > LOST_SHARE_MAX * programs || typeof left === 'string';

export const goneText = (seconds: number): string => `went away ${number(seconds)} s after the beginning`;

/** Why a load's times are not of the target as it is; undefined: it is whole. */
export function leftText({ url, engine_left: left, gone_after_seconds: gone }: TargetReport): string | undefined {
  if (typeof gone === 'number') return `${url} ${goneText(gone)}`;
  return typeof left === 'string' ? `${left} behind ${url}` : undefined;
}

export const keepsUp = ({ queue_grew, programs, completed, failed }: TargetReport): boolean =>
  queue_grew !== true && completed > 0 && failed <= FAILED_SHARE_MAX * programs;

/** Whether a target sustains its load; undefined: not known. @param isRate whether no program waits for another */
export const sustains = (target: TargetReport, isRate: boolean): boolean | undefined =>
  isRate && (programsToTell([target]) > 0 || (lacksBase(target) && keepsUp(target))) ? undefined : keepsUp(target);

interface RunSamples {
  readonly backlog: Backlog;
  readonly program: Sample;
  readonly ttft: Sample;
}

const SAMPLES = ['callQueue', 'queue', 'engine', 'tool', 'alone', 'slowdown'] as const;
/** Share of programs that may be faster than alone, as chance has it; and how much. */
const FASTER = 0.05;
const FASTER_BY = 0.9;
const FASTER_PROGRAMS_MIN = 20;

type Timed = Pick<ReturnType<Gathering['measures']>, 'slowdown' | 'by_size' | 'by_workload'>;

/** With slowdowns over a base that is so many times as long. */
export function rebased<M extends Timed>(measures: M, factor: number): M {
  if (factor === 1) return measures;
  const scaled = ({ count, ...times }: Distribution) => ({ count, ...mapped(times, (time) => time && time / factor) });
  const over = <G extends Pick<Timed, 'slowdown'>>(of: G) => ({ ...of, slowdown: scaled(of.slowdown), on_time: null });
  const { slowdown, by_size, by_workload } = measures;
  return {
    ...measures,
    slowdown: scaled(slowdown),
    by_size: by_size.map(over),
    by_workload: mapped(by_workload, over),
  };
}

const mapped = <K extends string, V, W>(of: Readonly<Record<K, V>>, change: (value: V) => W) =>
  Object.fromEntries(Object.entries<V>(of).map(([name, value]) => [name, change(value)])) as Record<K, W>;

/** Gathers the measures of one target's calls and programs, in bounded memory. */
export class Target {
  readonly #measures: Gathering;
  readonly #samples: Readonly<Record<(typeof SAMPLES)[number], Sample>>;
  readonly #runs: RunSamples[] = [];
  readonly #examples: Partial<Record<ErrorClass, string>> = {};
  #cachedTokens: number | null = null;

  constructor(
    readonly name: string,
    readonly url: string,
    private readonly seed: number,
    private readonly isClosed: boolean,
  ) {
    this.#measures = new Gathering(seed);
    const samples = SAMPLES.map((name) => [name, new Sample(seed)]);
    this.#samples = Object.fromEntries(samples) as Record<(typeof SAMPLES)[number], Sample>;
  }

  callEnded(call: LoadCallRecord): void {
    this.#measures.callEnded(call);
    const { outcome, detail = '' } = call;
    if (outcome !== 'completed') {
      if (detail !== '') this.#examples[outcome as ErrorClass] ??= detail;
      return;
    }
    addKnown(this.#run(call.run).ttft, (call.firstTokenMs - call.arrivedMs) / 1000);
    addKnown(this.#samples.callQueue, call.queueMs / 1000);
    // Some engines omit cached tokens when there are none.
    if (!Number.isNaN(call.cachedTokens)) this.#cachedTokens = (this.#cachedTokens ?? 0) + call.cachedTokens;
  }

  programEnded(program: LoadProgramRecord): void {
    this.#measures.programEnded(program, program.run);
    const run = this.#run(program.run);
    run.backlog.programEnded(program);
    if (program.outcome !== 'completed') return;
    addKnown(this.#samples.alone, program.aloneMs / 1000);
    if (program.aloneMs > 0) this.#samples.slowdown.add((program.endedMs - program.arrivedMs) / program.aloneMs);
    run.program.add((program.endedMs - program.arrivedMs) / 1000);
    addKnown(this.#samples.queue, program.queueMs / 1000);
    addKnown(this.#samples.engine, program.engineMs / 1000);
    addKnown(this.#samples.tool, program.toolMs / 1000);
  }

  /**
   * The share of the estimated times alone that they can be at most: hardly a program is faster than alone, and alone it
   * takes no longer than it took outside queues.
   */
  get baseMax(): number {
    const { slowdown, alone, queue } = this.#samples;
    const { mean } = this.#measures.measures().program_seconds;
    const served = mean === null || queue.count === 0 ? NaN : (mean - queue.mean) / alone.mean;
    const most = Math.min(...[slowdown.percentile(FASTER), served].filter((share) => !Number.isNaN(share)));
    return slowdown.count >= FASTER_PROGRAMS_MIN && most < FASTER_BY ? most : 1;
  }

  /** @param base share of the estimated times alone that they are taken to be */
  report(facts?: TargetFacts, base = 1) {
    const { refused, ...estimated } = this.#measures.measures();
    const measures = rebased(estimated, base);
    const errors = Object.fromEntries(ERROR_CLASSES.map((each) => [each, refused[each] ?? 0]));
    const backlogs = this.isClosed ? [] : this.#runs.map(({ backlog }) => backlog).filter(({ spanMs }) => spanMs > 0);
    const spans = backlogs.map(({ spanMs }) => spanMs / 1000);
    const ended = backlogs.reduce((sum, { endedBefore }) => sum + endedBefore, 0);
    const signs = {
      program_seconds: measures.program_seconds,
      slowdown: measures.slowdown,
      program_queue_seconds: this.#samples.queue.distribution(),
      /** How long programs arrived, in the shortest run, and a program's mean estimated time alone; null where unknown. */
      arrivals_seconds: spans.length === 0 ? null : Math.min(...spans),
      alone_seconds: scaled(this.#samples.alone.distribution().mean, base),
    };
    return {
      /** A for the first target, B for the other. */
      name: this.name,
      url: this.url,
      model: facts?.model ?? null,
      server: facts?.server ?? null,
      policy: facts?.policy ?? null,
      tokenizer: facts?.tokenizer ?? null,
      ...measures,
      queue_seconds: this.#samples.callQueue.distribution(),
      errors: errors as Record<ErrorClass, number>,
      /** Message of the first failed call of each class that occurred. */
      error_examples: this.#examples,
      /** Null if it never reported any. */
      cached_tokens: this.#cachedTokens,
      /** The event by which an engine behind it left; null: none did, or no event is known. */
      engine_left: facts?.disturbances.find((text) => LEFT.test(text)) ?? null,
      /** When nobody answered there any more, in seconds after the beginning; null: it stayed, or came back. */
      gone_after_seconds: facts?.goneMs === undefined ? null : facts.goneMs / 1000,
      calls_failed: Object.values(refused).reduce((sum, count) => sum + count, 0),
      ...signs,
      program_engine_seconds: this.#samples.engine.distribution(),
      program_tool_seconds: this.#samples.tool.distribution(),
      /** Completed programs a second while others arrived. */
      ended_per_second: spans.length === 0 ? null : ended / spans.reduce((sum, span) => sum + span),
      /** In every run; null where that cannot be told. */
      queue_grew: isOverload(this.#queueGrew(base), signs),
      by_run: this.#runs.map(({ program, ttft }) => ({
        program_seconds: program.distribution(),
        ttft_seconds: ttft.distribution(),
      })),
    };
  }

  #run(index: number): RunSamples {
    const { seed } = this;
    return (this.#runs[index] ??= { backlog: new Backlog(seed), program: new Sample(seed), ttft: new Sample(seed) });
  }

  #queueGrew(base: number): boolean | null {
    if (this.isClosed || this.#measures.programs < KEEPS_UP_PROGRAMS_MIN) return null;
    const known = this.#runs.map(({ backlog }) => backlog.grew(base)).filter((grew) => grew !== null);
    return known.length === 0 ? null : known.every((grew) => grew);
  }
}

function addKnown(sample: Sample, value: number): void {
  if (!Number.isNaN(value)) sample.add(value);
}
