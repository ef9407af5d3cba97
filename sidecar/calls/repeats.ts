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

/** Threads of a program whose runs are kept, the latest ones: clients choose their names. */
const THREADS_MAX = 256;

/** Counts the answers in a row that ask for the same tool calls: an agent that goes round in a circle. */
export class Repeats implements Observer {
  /** The present run of each thread of each program. */
  readonly #runs = new Map<ProgramId, Map<string, Run>>();

  answered({ identity }: Pick<CallSpec, 'identity'>, { message }: Pick<AnswerFacts, 'message'>): void {
    const { program, thread } = identity;
    if (message === undefined) return;
    const threads = this.#runs.get(program) ?? new Map<string, Run>();
    const before = threads.get(thread);
    threads.delete(thread);
    if (!asksForTools(message)) return;
    this.#runs.set(program, threads);
    const asked = hashOf(message.content);
    threads.set(thread, { asked, length: before?.asked === asked ? before.length + 1 : 1 });
    const [oldest = thread] = threads.keys();
    if (threads.size > THREADS_MAX) threads.delete(oldest);
  }

  programGone({ program }: Pick<ProgramGone, 'program'>): void {
    this.#runs.delete(program);
  }

  /** The longest present run of the program's threads. */
  of(program: ProgramId): number {
    return Math.max(0, ...[...(this.#runs.get(program)?.values() ?? [])].map(({ length }) => length));
  }
}
