import type { CallId, Policy, ProgramId } from '../../src/index.js';
import type { Oracle } from '../virtual/options.js';

/** Knowledge of a call before it has run. */
interface Foreseen {
  readonly callMs: number;
  readonly programMs: number;
}

/** The world's knowledge of each call, kept while the call is in the system. */
export class Foresight implements Oracle {
  readonly #calls = new Map<CallId, Foreseen>();
  #answered: { readonly program: ProgramId; readonly thread: string; readonly returns: boolean } | undefined;

  arrives(id: CallId, callMs: number, programMs: number): void {
    this.#calls.set(id, { callMs, programMs });
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
