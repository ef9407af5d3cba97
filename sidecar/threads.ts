import type { ProgramId } from '../src/index.js';

/** Most threads of one program to count separately; calls of further ones count as the root's. */
const THREADS_MAX = 256;

/** Calls of each sub-agent of a program, for operators to see. Programs without sub-agents use no memory. */
export class Threads {
  readonly #calls = new Map<ProgramId, Map<string, number>>();

  accepted(program: ProgramId, thread: string): void {
    if (thread === '') return;
    const calls = this.#calls.get(program) ?? new Map<string, number>();
    const made = calls.get(thread) ?? 0;
    if (made === 0 && calls.size >= THREADS_MAX) return;
    this.#calls.set(program, calls.set(thread, made + 1));
  }

  gone(program: ProgramId): void {
    this.#calls.delete(program);
  }

  of(program: ProgramId): ReadonlyMap<string, number> {
    return this.#calls.get(program) ?? new Map<string, number>();
  }
}
