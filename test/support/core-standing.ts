import { type ModelId, type Scheduler } from '../../src/index.js';
import type { Book } from './core-book.js';

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
