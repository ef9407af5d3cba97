import { Sample, type Distribution } from './sample.js';

/** Slowdown up to which a program counts as on time (SAGA, 8). */
const ON_TIME = 1.5;

/** Measures of a group of completed programs. */
export interface GroupMeasures {
  readonly programs: number;
  readonly seconds_per_token: Distribution;
  readonly program_seconds: Distribution;
  readonly slowdown: Distribution;
  /** Share of the programs that took at most 1.5 times as long as alone; null where that is unknown. */
  readonly on_time: number | null;
}

export interface SizeMeasures extends GroupMeasures {
  readonly tokens_min: number | null;
  readonly tokens_max: number | null;
}

/** Figures of a completed program. */
export interface ProgramFigures {
  /**
   * Its size: prompts and answers of all its calls. Visible to anyone who sees calls, and the same under every setting.
   */
  readonly tokens: number;
  readonly outputTokens: number;
  readonly seconds: number;
  /** NaN where unknown. */
  readonly slowdown: number;
}

export class ProgramGroup {
  readonly program: Sample;
  readonly slowdown: Sample;
  readonly #perToken: Sample;
  #onTime = 0;

  constructor(seed: number) {
    this.program = new Sample(seed);
    this.#perToken = new Sample(seed);
    this.slowdown = new Sample(seed);
  }

  add({ seconds, outputTokens, slowdown }: ProgramFigures): void {
    this.program.add(seconds);
    if (outputTokens > 0) this.#perToken.add(seconds / outputTokens);
    if (Number.isNaN(slowdown)) return;
    this.slowdown.add(slowdown);
    if (slowdown <= ON_TIME) this.#onTime += 1;
  }

  /** Jain's index of the slowdowns; null where none is known. */
  get fairness(): number | null {
    return this.slowdown.count === 0 ? null : this.slowdown.fairness;
  }

  measures(): GroupMeasures {
    return {
      programs: this.program.count,
      seconds_per_token: this.#perToken.distribution(),
      program_seconds: this.program.distribution(),
      slowdown: this.slowdown.distribution(),
      on_time: this.slowdown.count === 0 ? null : this.#onTime / this.slowdown.count,
    };
  }
}

/**
 * Four quarters by size, the smallest first, divided at the quartiles. A program falls into the same quarter whatever
 * policy served it, as long as all completed. Programs of equal size share a quarter, so another quarter may be empty.
 */
export function bySize(programs: readonly ProgramFigures[], seed: number): SizeMeasures[] {
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
