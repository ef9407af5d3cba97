import { type ModelId, type Scheduler } from '../../src/index.js';
import type { Book } from './core-book.js';
import type { Moment } from './core-play.js';

/** Place of a waiting call. */
export interface Standing {
  readonly id: string;
  readonly seq: number;
  readonly model: ModelId;
  readonly level: number;
  /** The only engine that it waits for; undefined: any that serves its model. */
  readonly engine: string | undefined;
}

/** All waiting calls whose programs are in the table, as the views show them. */
export function standings(book: Book, scheduler: Scheduler): Standing[] {
  const found: Standing[] = [];
  for (const program of scheduler.views.programs())
    for (const { call, state, model, level, engine } of program.threads)
      if (state === 'waiting') found.push({ id: call, seq: book.calls.get(call)!.seq, model, level, engine });
  return found;
}

/** Room of each engine's gate that a call may count on, whatever its own context and its family's prefix. */
interface Gate {
  readonly gate: number;
  readonly outputReserveTokens: number;
}

const NO_GATE: Gate = { gate: 0, outputReserveTokens: 0 };

/**
 * Each engine with a free slot, and a waiting call that it might run, which there should not be. With a gate: a call
 * that fits whole beside all contexts that count, where no room is reserved.
 */
export function* openEngines(
  { book, scheduler, nowMs }: Pick<Moment, 'book' | 'scheduler' | 'nowMs'>,
  { gate, outputReserveTokens } = NO_GATE,
) {
  const waiting = standings(book, scheduler);
  for (const engine of scheduler.views.engines()) {
    const booked = book.engines.get(engine.id)!;
    const limit = engine.probation ? 1 : engine.window;
    if (booked.state !== 'up' || nowMs < booked.restUntilMs || engine.inFlight >= limit) continue;
    if (gate !== 0 && engine.reservedFor !== undefined) continue;
    const gateTokens = gate === 0 || engine.inFlight === 0 ? Infinity : gate * (engine.capacityTokens ?? Infinity);
    const left = waiting.find(({ id, model, engine: boundTo = engine.id }) => {
      const call = book.calls.get(id)!;
      const needTokens = call.promptTokens + Math.min(call.maxTokens, outputReserveTokens);
      const mayRun = booked.models.includes(model) && boundTo === engine.id && book.mayTry(call, booked, nowMs);
      return mayRun && engine.workingSetTokens + needTokens <= gateTokens;
    });
    yield { engine: engine.id, left: left?.id };
  }
}
