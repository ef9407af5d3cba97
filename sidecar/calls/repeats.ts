import type { ProgramGone, ProgramId } from '../../src/index.js';
import type { AnswerFacts } from '../apis/api.js';
import { asksForTools } from '../apis/canonical.js';
import { hashOf } from '../identity/growing.js';
import type { Observer } from './observers.js';
import type { CallSpec } from './spec.js';

interface Run {
  readonly asked: number;
  readonly length: number;
}

/** Counts the answers in a row that ask for the same tool calls: an agent that goes round in a circle. */
export class Repeats implements Observer {
  /** The present run of each thread of each program. */
  readonly #runs = new Map<ProgramId, Map<string, Run>>();

  answered({ identity }: Pick<CallSpec, 'identity'>, { message }: Pick<AnswerFacts, 'message'>): void {
    const { program, thread } = identity;
    if (message === undefined) return;
    if (!asksForTools(message)) return void this.#runs.get(program)?.delete(thread);
    const threads = this.#runs.get(program) ?? new Map<string, Run>();
    this.#runs.set(program, threads);
    const asked = hashOf(message.content);
    const before = threads.get(thread);
    threads.set(thread, { asked, length: before?.asked === asked ? before.length + 1 : 1 });
  }

  programGone({ program }: Pick<ProgramGone, 'program'>): void {
    this.#runs.delete(program);
  }

  /** The longest present run of the program's threads. */
  of(program: ProgramId): number {
    return Math.max(0, ...[...(this.#runs.get(program)?.values() ?? [])].map(({ length }) => length));
  }
}
