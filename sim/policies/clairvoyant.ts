import type { CallId, Policy, ProgramId } from '../../src/index.js';
import type { Foreseen, Oracle } from '../virtual/options.js';

/** The world's knowledge of each call, kept while the call is in the system. */
export class Foresight implements Oracle {
  readonly #calls = new Map<CallId, Foreseen>();
  #answered: { readonly program: ProgramId; readonly thread: string; readonly returns: boolean } | undefined;

  arrives(id: CallId, foreseen: Foreseen): void {
    this.#calls.set(id, foreseen);
  }

  ended(id: CallId): void {
    this.#calls.delete(id);
  }

  answered(program: ProgramId, thread: string, returns: boolean): void {
    this.#answered = { program, thread, returns };
  }

  /** Whether the thread calls again, of which a call has just been answered. */
  readonly returns = (program: ProgramId, thread: string): boolean =>
    this.#answered?.program === program && this.#answered.thread === thread && this.#answered.returns;

  of(id: CallId | undefined): Foreseen | undefined {
    return id === undefined ? undefined : this.#calls.get(id);
  }
}

/** Looks up the knowledge of a call, if any. */
type Foreseeing = Pick<Foresight, 'of'>;

/**
 * Shortest remaining processing time, of whole programs: the bound for policies that must learn how long programs are.
 */
export const srpt = (foresight: Foreseeing): Policy => byForesight('srpt', foresight, (call) => call.programMs);

/** Shortest job first, of single calls: the benefit of knowing calls, but not programs. */
export const sjf = (foresight: Foreseeing): Policy => byForesight('sjf', foresight, (call) => call.callMs);

/**
 * Gittins' index: what a policy could reach that has learnt the distribution of sizes, and of each program knows its
 * attained service alone. The rank is the least of (expected service until it ends or has got x more) / (chance that it
 * ends by then), over all x.
 * @param sizesMs of all programs of the run, smallest first
 */
export const gittins = (foresight: Foreseeing, sizesMs: readonly number[]): Policy =>
  byForesight('gittins', foresight, ({ attainedMs }) => {
    const [first = 0, ...others] = costsOfEnds(sizesMs, attainedMs);
    return others.reduce((least, cost) => Math.min(least, cost), first);
  });

/** The same by the mean rest: the index of a program that keeps its turn to the end. */
export const meanRest = (foresight: Foreseeing, sizesMs: readonly number[]): Policy =>
  byForesight('mean-rest', foresight, ({ attainedMs }) => costsOfEnds(sizesMs, attainedMs).at(-1) ?? 0);

/**
 * Service per program that ends, of programs with that attained service: if each gets at most what the first of them
 * still needs, what the second needs, and so on.
 */
function costsOfEnds(sizesMs: readonly number[], attainedMs: number): number[] {
  const rests = sizesMs.map((size) => size - attainedMs).filter((rest) => rest > 0);
  let ended = 0;
  return rests.map((rest, index) => {
    ended += rest;
    return (ended + (rests.length - 1 - index) * rest) / (index + 1);
  });
}

/** Least first, with the core's window, gate and promotions; an unknown call goes before all others. */
function byForesight(name: string, foresight: Foreseeing, rankOf: (call: Foreseen) => number): Policy {
  return {
    name,
    admits: true,
    levels: 2,
    stand(arrival) {
      const call = foresight.of(arrival.id);
      return { level: 1, rank: call === undefined ? 0 : rankOf(call) };
    },
  };
}
