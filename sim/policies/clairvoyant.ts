import type { CallId, Policy, ProgramId } from '../../src/index.js';
import type { Oracle } from '../virtual/options.js';

/** The world's knowledge of each call, kept while the call is in the system. */
export class Foresight implements Oracle {
  readonly #restsMs = new Map<CallId, number>();
  #answered: { readonly program: ProgramId; readonly thread: string; readonly returns: boolean } | undefined;

  arrives(id: CallId, programMs: number): void {
    this.#restsMs.set(id, programMs);
  }

  ended(id: CallId): void {
    this.#restsMs.delete(id);
  }

  answered(program: ProgramId, thread: string, returns: boolean): void {
    this.#answered = { program, thread, returns };
  }

  /** Whether the thread calls again, of which a call has just been answered. */
  readonly returns = (program: ProgramId, thread: string): boolean =>
    this.#answered?.program === program && this.#answered.thread === thread && this.#answered.returns;

  /** Service that the program of a call still needs, this call's included; undefined: the call is unknown. */
  of(id: CallId | undefined): number | undefined {
    return id === undefined ? undefined : this.#restsMs.get(id);
  }
}

/**
 * Shortest remaining processing time, of whole programs: the bound for policies that must learn how long programs are.
 * It has the core's window, gate and promotions; an unknown call goes before all others.
 */
export function srpt(foresight: Pick<Foresight, 'of'>): Policy {
  return {
    name: 'srpt',
    admits: true,
    levels: 2,
    stand: (arrival) => ({ level: 1, rank: foresight.of(arrival.id) ?? 0 }),
  };
}
