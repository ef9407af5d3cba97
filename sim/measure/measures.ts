import { Reservoir, Sample, type Distribution } from './sample.js';
import type { CallRecord, Observer, ProgramRecord } from './records.js';

/**
 * What programs and their calls came to, under the names that documents print; docs/SIMULATOR.md tells each. Times are
 * seconds. Null: nothing of the kind was seen. Durations and ratios are of completed programs and calls alone.
 */
export interface Measures {
  /** Programs that ended, and how: failed is one with a call that was refused or broke. */
  readonly programs: number;
  readonly completed: number;
  readonly failed: number;
  /** Calls that ended without an answer, by their code. */
  readonly refused: Readonly<Record<string, number>>;
  /** Calls that were never made, because one before them failed. */
  readonly calls_cancelled: number;
  /** Calls that ended, and their tokens. */
  readonly calls: number;
  readonly prompt_tokens: number;
  readonly output_tokens: number;
  /** A program's time from its arrival to its end over the tokens that its calls put out: Autellix's measure. */
  readonly seconds_per_token: Distribution;
  readonly program_seconds: Distribution;
  /** Of a call, from its arrival to its first token. */
  readonly ttft_seconds: Distribution;
  /** Of a call, from its arrival to the engine's having it. */
  readonly queue_seconds: Distribution;
  /** Of a call, mean time between tokens after the first. */
  readonly inter_token_seconds: Distribution;
  /** A program's time over its time in an empty system. */
  readonly slowdown: Distribution;
  /** Quarters of the programs by their tokens, prompts and answers together: the smallest first. */
  readonly by_size: readonly SizeMeasures[];
  /** Of the slowdowns: 1 when all programs are slowed alike. */
  readonly jain_index: number | null;
  /** From the first arrival to the last end. */
  readonly makespan_seconds: number | null;
  readonly programs_per_second: number | null;
  readonly calls_per_second: number | null;
  readonly output_tokens_per_second: number | null;
  /** The program with the longest wait of one call before an engine had it; the first such. */
  readonly worst_waiting: { readonly program: string; readonly seconds: number } | null;
}

export interface SizeMeasures {
  readonly tokens_min: number | null;
  readonly tokens_max: number | null;
  readonly programs: number;
  readonly program_seconds: Distribution;
  readonly slowdown: Distribution;
}

/** A completed program, as far as sizes are told apart. */
interface Sized {
  readonly tokens: number;
  readonly seconds: number;
  /** NaN where unknown. */
  readonly slowdown: number;
}

const SAMPLES = ['perToken', 'program', 'ttft', 'queue', 'interToken', 'slowdown'] as const;

/** Gathers the measures of one run, in memory that does not grow with it: see `Sample` for what is exact. */
export class Gathering implements Observer {
  readonly #seed: number;
  readonly #samples: Readonly<Record<(typeof SAMPLES)[number], Sample>>;
  readonly #sized: Reservoir<Sized>;
  readonly #refused = new Map<string, number>();
  #programs = 0;
  #completed = 0;
  #cancelled = 0;
  #calls = 0;
  #completedCalls = 0;
  #promptTokens = 0;
  #outputTokens = 0;
  #firstMs = Infinity;
  #lastMs = -Infinity;
  #worst: Measures['worst_waiting'] = null;

  constructor(seed: number) {
    this.#seed = seed;
    this.#sized = new Reservoir(seed);
    this.#samples = Object.fromEntries(SAMPLES.map((name) => [name, new Sample(seed)])) as Record<
      (typeof SAMPLES)[number],
      Sample
    >;
  }

  /** Programs that have ended so far. */
  get programs(): number {
    return this.#programs;
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
    const { queue, ttft, interToken } = this.#samples;
    if (!Number.isNaN(dispatchedMs)) queue.add((dispatchedMs - arrivedMs) / 1000);
    if (Number.isNaN(firstTokenMs)) return;
    ttft.add((firstTokenMs - arrivedMs) / 1000);
    if (outputTokens > 1) interToken.add((endedMs - firstTokenMs) / (outputTokens - 1) / 1000);
  }

  programEnded(record: ProgramRecord): void {
    const { arrivedMs, endedMs, promptTokens, outputTokens, longestQueueMs, aloneMs, outcome } = record;
    this.#programs += 1;
    this.#cancelled += record.callsCancelled;
    this.#firstMs = Math.min(this.#firstMs, arrivedMs);
    this.#lastMs = Math.max(this.#lastMs, endedMs);
    const waited = longestQueueMs / 1000;
    if (waited > (this.#worst?.seconds ?? 0)) this.#worst = { program: record.program, seconds: waited };
    if (outcome !== 'completed') return;
    this.#completed += 1;
    const seconds = (endedMs - arrivedMs) / 1000;
    const { program, perToken, slowdown } = this.#samples;
    program.add(seconds);
    if (outputTokens > 0) perToken.add(seconds / outputTokens);
    const slowed = aloneMs > 0 ? (endedMs - arrivedMs) / aloneMs : NaN;
    if (!Number.isNaN(slowed)) slowdown.add(slowed);
    this.#sized.add({ tokens: promptTokens + outputTokens, seconds, slowdown: slowed });
  }

  measures(): Measures {
    const { perToken, program, ttft, queue, interToken, slowdown } = this.#samples;
    const makespan = (this.#lastMs - this.#firstMs) / 1000;
    const aSecond = (count: number) => (makespan > 0 ? count / makespan : null);
    return {
      programs: this.#programs,
      completed: this.#completed,
      failed: this.#programs - this.#completed,
      refused: Object.fromEntries([...this.#refused].sort(([a], [b]) => (a < b ? -1 : 1))),
      calls_cancelled: this.#cancelled,
      calls: this.#calls,
      prompt_tokens: this.#promptTokens,
      output_tokens: this.#outputTokens,
      seconds_per_token: perToken.distribution(),
      program_seconds: program.distribution(),
      ttft_seconds: ttft.distribution(),
      queue_seconds: queue.distribution(),
      inter_token_seconds: interToken.distribution(),
      slowdown: slowdown.distribution(),
      by_size: bySize(this.#sized.kept, this.#seed),
      jain_index: slowdown.count === 0 ? null : slowdown.fairness,
      makespan_seconds: this.#programs === 0 ? null : makespan,
      programs_per_second: aSecond(this.#completed),
      calls_per_second: aSecond(this.#completedCalls),
      output_tokens_per_second: aSecond(this.#outputTokens),
      worst_waiting: this.#worst,
    };
  }
}

/**
 * The quarters lie between the quartiles of the sizes, so that a program is in the same one whatever policy served it,
 * as long as all completed. Many programs of one size are all in one quarter, and another has none then.
 */
function bySize(programs: readonly Sized[], seed: number): SizeMeasures[] {
  const sorted = programs.toSorted((a, b) => a.tokens - b.tokens);
  const most = [0.25, 0.5, 0.75, 1].map((share) => sorted[Math.ceil(share * sorted.length) - 1]?.tokens ?? 0);
  return most.map((last, quarter) => {
    const least = most[quarter - 1] ?? -1;
    const inside = sorted.filter(({ tokens }) => tokens > least && tokens <= last);
    const seconds = new Sample(seed);
    const slowdown = new Sample(seed);
    for (const each of inside) {
      seconds.add(each.seconds);
      if (!Number.isNaN(each.slowdown)) slowdown.add(each.slowdown);
    }
    return {
      tokens_min: inside[0]?.tokens ?? null,
      tokens_max: inside.at(-1)?.tokens ?? null,
      programs: inside.length,
      program_seconds: seconds.distribution(),
      slowdown: slowdown.distribution(),
    };
  });
}
