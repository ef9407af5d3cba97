import { Sample, Reservoir } from './sample.js';
import type { CallRecord, Observer, ProgramRecord } from '../../sim/index.js';

/** Slowdown up to which a program counts as on time (SAGA, 8). */
const ON_TIME = 1.5;

export type ProgramFigures = Readonly<ReturnType<typeof figuresOf>>;

export class ProgramGroup {
  readonly #program: Sample;
  readonly #slowdown: Sample;
  readonly #perToken: Sample;
  #onTime = 0;

  constructor(seed: number) {
    this.#program = new Sample(seed);
    this.#perToken = new Sample(seed);
    this.#slowdown = new Sample(seed);
  }

  add({ seconds, outputTokens, slowdown }: ProgramFigures): void {
    this.#program.add(seconds);
    if (outputTokens > 0) this.#perToken.add(seconds / outputTokens);
    if (Number.isNaN(slowdown)) return;
    this.#slowdown.add(slowdown);
    if (slowdown <= ON_TIME) this.#onTime += 1;
  }

  /** Jain's index of the slowdowns; null where none is known. */
  get fairness(): number | null {
    return this.#slowdown.count === 0 ? null : this.#slowdown.fairness;
  }

  /** Of completed programs. */
  measures() {
    return {
      programs: this.#program.count,
      seconds_per_token: this.#perToken.distribution(),
      program_seconds: this.#program.distribution(),
      slowdown: this.#slowdown.distribution(),
      /** Share of the programs that took at most 1.5 times as long as alone; null where that is unknown. */
      on_time: this.#slowdown.count === 0 ? null : this.#onTime / this.#slowdown.count,
    };
  }
}

/** Programs of one workload in a mixture, with their calls. */
export class WorkloadGroup extends ProgramGroup {
  readonly ttft: Sample;

  constructor(seed: number) {
    super(seed);
    this.ttft = new Sample(seed);
  }

  override measures() {
    return { ...super.measures(), ttft_seconds: this.ttft.distribution() };
  }
}

/**
 * Four quarters by size, the smallest first, divided at the quartiles. A program falls into the same quarter whatever
 * policy served it, as long as all completed. Programs of equal size share a quarter, so another quarter may be empty.
 */
function bySize(programs: readonly ProgramFigures[], seed: number) {
  const sorted = programs.toSorted((a, b) => a.tokens - b.tokens);
  const most = [0.25, 0.5, 0.75, 1].map((share) => sorted[Math.ceil(share * sorted.length) - 1]?.tokens ?? 0);
  return most.map((last, quarter) => {
    const least = most[quarter - 1] ?? -1;
    const inside = sorted.filter(({ tokens }) => tokens > least && tokens <= last);
    const group = new ProgramGroup(seed);
    for (const each of inside) group.add(each);
    return { tokens_min: inside[0]?.tokens ?? null, tokens_max: inside.at(-1)?.tokens ?? null, ...group.measures() };
  });
}

/**
 * Measures of programs and their calls, under the names that documents print; docs/SIMULATOR.md explains each. Times
 * are seconds. Null: nothing was observed. Durations and ratios are of completed programs and calls alone.
 */
export type Measures = Readonly<ReturnType<Gathering['measures']>>;

const WORKLOADS_MAX = 32;
const OTHERS = 'others';

/** Gathers the measures of a run, or of several together, in bounded memory; `Sample` says which are exact. */
export class Gathering implements Observer {
  readonly #seed: number;
  readonly #all: ProgramGroup;
  readonly #byWorkload = new Map<string, WorkloadGroup>();
  readonly #ttft: Sample;
  readonly #queue: Sample;
  readonly #interToken: Sample;
  readonly #sized: Reservoir<ProgramFigures>;
  readonly #refused = new Map<string, number>();
  programs = 0;
  #completed = 0;
  #cancelled = 0;
  #calls = 0;
  #completedCalls = 0;
  #promptTokens = 0;
  #outputTokens = 0;
  /** The first arrival and the last end of each run. */
  readonly #spans: (readonly [number, number])[] = [];
  /** The program with the longest wait of one call for an engine; the first of several. */
  #worst: { readonly program: string; readonly seconds: number } | null = null;

  constructor(seed: number) {
    this.#seed = seed;
    this.#sized = new Reservoir(seed);
    this.#all = new ProgramGroup(seed);
    this.#ttft = new Sample(seed);
    this.#queue = new Sample(seed);
    this.#interToken = new Sample(seed);
  }

  callEnded(call: CallRecord): void {
    const { arrivedMs, dispatchedMs, firstTokenMs, endedMs, promptTokens, outputTokens, outcome } = call;
    this.#calls += 1;
    if (outcome !== 'completed') {
      this.#refused.set(outcome, (this.#refused.get(outcome) ?? 0) + 1);
      return;
    }
    this.#completedCalls += 1;
    this.#promptTokens += promptTokens;
    this.#outputTokens += outputTokens;
    if (!Number.isNaN(dispatchedMs)) this.#queue.add((dispatchedMs - arrivedMs) / 1000);
    if (Number.isNaN(firstTokenMs)) return;
    this.#ttft.add((firstTokenMs - arrivedMs) / 1000);
    this.#groupOf(call.workload)?.ttft.add((firstTokenMs - arrivedMs) / 1000);
    if (outputTokens > 1) this.#interToken.add((endedMs - firstTokenMs) / (outputTokens - 1) / 1000);
  }

  programEnded(record: ProgramRecord, run = 0): void {
    const { arrivedMs, endedMs, longestQueueMs, outcome } = record;
    this.programs += 1;
    this.#cancelled += record.callsCancelled;
    const [firstMs, lastMs] = this.#spans[run] ?? [Infinity, -Infinity];
    this.#spans[run] = [Math.min(firstMs, arrivedMs), Math.max(lastMs, endedMs)];
    const waited = longestQueueMs / 1000;
    if (waited > (this.#worst?.seconds ?? 0)) this.#worst = { program: record.program, seconds: waited };
    if (outcome !== 'completed') return;
    this.#completed += 1;
    const figures = figuresOf(record);
    this.#all.add(figures);
    this.#groupOf(record.workload)?.add(figures);
    this.#sized.add(figures);
  }

  #groupOf(workload: string): WorkloadGroup | undefined {
    if (workload === '') return undefined;
    const isKnown = this.#byWorkload.has(workload) || this.#byWorkload.size < WORKLOADS_MAX;
    const name = isKnown ? workload : OTHERS;
    const group = this.#byWorkload.get(name) ?? new WorkloadGroup(this.#seed);
    this.#byWorkload.set(name, group);
    return group;
  }

  measures() {
    const { seconds_per_token, program_seconds, slowdown } = this.#all.measures();
    const makespan = this.#spans.reduce((sum, [firstMs, lastMs]) => sum + lastMs - firstMs, 0) / 1000;
    const aSecond = (count: number) => (makespan > 0 ? count / makespan : null);
    return {
      programs: this.programs,
      completed: this.#completed,
      failed: this.programs - this.#completed,
      /** Calls that ended without an answer, by their code. */
      refused: sortedByName([...this.#refused]),
      calls_cancelled: this.#cancelled,
      calls: this.#calls,
      prompt_tokens: this.#promptTokens,
      output_tokens: this.#outputTokens,
      seconds_per_token,
      program_seconds,
      ttft_seconds: this.#ttft.distribution(),
      queue_seconds: this.#queue.distribution(),
      inter_token_seconds: this.#interToken.distribution(),
      slowdown,
      by_size: bySize(this.#sized.kept, this.#seed),
      by_workload: sortedByName([...this.#byWorkload].map(([name, group]) => [name, group.measures()])),
      jain_index: this.#all.fairness,
      makespan_seconds: this.programs === 0 ? null : makespan,
      programs_per_second: aSecond(this.#completed),
      calls_per_second: aSecond(this.#completedCalls),
      output_tokens_per_second: aSecond(this.#outputTokens),
      worst_waiting: this.#worst,
    };
  }
}

/** Figures of a completed program. */
export function figuresOf(record: ProgramRecord) {
  const { arrivedMs, endedMs, promptTokens, outputTokens, aloneMs } = record;
  return {
    /** Its size: visible to anyone who sees calls, and the same under every setting. */
    tokens: promptTokens + outputTokens,
    outputTokens,
    seconds: (endedMs - arrivedMs) / 1000,
    /** NaN where unknown. */
    slowdown: aloneMs > 0 ? (endedMs - arrivedMs) / aloneMs : NaN,
  };
}

/** Sorted, so that two runs with events in another order are easy to compare. */
export const sortedByName = <T>(entries: readonly (readonly [string, T])[]): Record<string, T> =>
  Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
