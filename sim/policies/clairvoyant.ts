import type { CallId, Policy } from '../../src/index.js';
import type { Oracle } from '../virtual/options.js';

/** What is known of a call before it has run. */
interface Foreseen {
  readonly callMs: number;
  readonly programMs: number;
}

/** What the world tells of calls in the system, kept for as long as they are in it. */
export class Foresight implements Oracle {
  readonly #calls = new Map<CallId, Foreseen>();

  arrives(id: CallId, callMs: number, programMs: number): void {
    this.#calls.set(id, { callMs, programMs });
  }

  ended(id: CallId): void {
    this.#calls.delete(id);
  }

  of(id: CallId | undefined): Foreseen | undefined {
    return id === undefined ? undefined : this.#calls.get(id);
  }
}

/** Tells of a call what is known of it, if anything. */
type Foreseeing = Pick<Foresight, 'of'>;

/** Shortest remaining processing time, of whole programs: the bound for policies that must learn how long programs are. */
export const srpt = (foresight: Foreseeing): Policy => byForesight('srpt', foresight, (call) => call.programMs);

/** Shortest job first, of single calls: what knowing calls, but not programs, would bring. */
export const sjf = (foresight: Foreseeing): Policy => byForesight('sjf', foresight, (call) => call.callMs);

/** Least first, with the core's window, gate and promotions; a call of which nothing was told goes before all others. */
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
