import type { ProgramId } from '../src/index.js';

/** Threads of one program that are told apart; the calls of further ones count as the root's. */
const THREADS_MAX = 256;

/** How many calls each sub-agent of a program has made, for people. Programs without sub-agents take no room. */
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
