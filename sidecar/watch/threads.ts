import type { ProgramGone, ProgramId } from '../../src/index.js';
import type { Observer } from '../calls/observers.js';
import type { CallSpec } from '../calls/spec.js';

/** Most threads of one program to count separately; calls of further ones count as the root's. */
const THREADS_MAX = 256;

/** Calls of each sub-agent of a program, for operators to see. Programs without sub-agents use no memory. */
export class Threads implements Observer {
  readonly #calls = new Map<ProgramId, Map<string, number>>();

  accepted({ spec }: { readonly spec: { readonly identity: Pick<CallSpec['identity'], 'program' | 'thread'> } }): void {
    const { program, thread } = spec.identity;
    if (thread === '') return;
    const calls = this.#calls.get(program) ?? new Map<string, number>();
    const made = calls.get(thread) ?? 0;
    if (made === 0 && calls.size >= THREADS_MAX) return;
    this.#calls.set(program, calls.set(thread, made + 1));
  }

  programGone({ program }: Pick<ProgramGone, 'program'>): void {
    this.#calls.delete(program);
  }

  of(program: ProgramId): ReadonlyMap<string, number> {
    return this.#calls.get(program) ?? new Map<string, number>();
  }
}
