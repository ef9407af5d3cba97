import { type AgentProgram, arrivalTimes, Dice } from '../../workloads/index.js';
import type { WorldOptions } from './options.js';

export class Source {
  readonly #programs: Iterator<AgentProgram>;
  readonly #openTimes: Iterator<number> | undefined;
  #left: number;
  #firstArrivalMs: number | undefined;

  /** @throws RangeError for impossible arrivals */
  constructor(private readonly options: Pick<WorldOptions, 'programs' | 'maxPrograms' | 'arrivals' | 'seed'>) {
    const { programs, maxPrograms = Infinity, arrivals, seed } = options;
    this.#programs = programs[Symbol.iterator]();
    this.#left = maxPrograms;
    if (arrivals.type === 'open') this.#openTimes = arrivalTimes(arrivals, new Dice(seed));
    if (arrivals.type === 'closed') wholeFrom(1, 'concurrency', arrivals.concurrency);
    if (arrivals.type === 'trace' && !(arrivals.speed > 0 && arrivals.speed < Infinity))
      throw new RangeError(`the speed of a trace must be above 0, got ${arrivals.speed}`);
  }

  /** Number of programs at the start, each replaced by another when it has ended; 0 for open arrivals. */
  get concurrency(): number {
    const { arrivals } = this.options;
    return arrivals.type === 'closed' ? arrivals.concurrency : 0;
  }

  /**
   * The next program and its time of arrival, now at the earliest.
   * @throws RangeError when its trace lacks that time
   */
  next(nowMs: number) {
    if (this.#left <= 0) return undefined;
    this.#left -= 1;
    const next = this.#programs.next();
    if (next.done !== true) return { program: next.value, atMs: Math.max(nowMs, this.#timeOf(next.value, nowMs)) };
    this.#left = 0;
    return undefined;
  }

  close(): void {
    this.#left = 0;
    this.#programs.return?.();
  }

  #timeOf(program: AgentProgram, nowMs: number): number {
    const { arrivals } = this.options;
    if (arrivals.type !== 'trace') return (this.#openTimes?.next().value as number | undefined) ?? nowMs;
    if (program.arrivalMs === undefined)
      throw new RangeError(`program ${program.id} has no arrival time: its trace cannot be replayed by its own times`);
    this.#firstArrivalMs ??= program.arrivalMs;
    return (program.arrivalMs - this.#firstArrivalMs) / arrivals.speed;
  }
}

/** @throws RangeError */
export function wholeFrom(least: number, name: string, value: number): void {
  if (!Number.isInteger(value) || value < least)
    throw new RangeError(`${name} must be a whole number from ${least}, got ${value}`);
}
