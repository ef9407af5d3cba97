import type { ProgramId } from '../../src/index.js';

/**
 * What answers say against an engine since it last gave a good one. Programs are counted, not calls: a bad answer may be
 * its request's fault, and one client may repeat that request without end.
 */
export class Evidence {
  readonly #failed = new Set<ProgramId>();
  readonly #outdone = new Set<ProgramId>();

  /** An answer failed a call of the program. */
  failed(program: ProgramId): void {
    this.#failed.add(program);
  }

  /** Another engine has answered a call that this one failed: the request was not at fault. */
  outdone(program: ProgramId): void {
    this.#outdone.add(program);
  }

  /** Whether it is enough to ask the engine how it is. @param programs from so many programs on */
  asks(programs: number): boolean {
    return this.#failed.size >= programs;
  }

  /** Whether it is enough to eject an engine that says that it is well. */
  convicts(programs: number): boolean {
    return this.#outdone.size >= programs;
  }

  clear(): void {
    this.#failed.clear();
    this.#outdone.clear();
  }
}
