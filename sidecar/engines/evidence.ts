import type { ProgramId } from '../../src/index.js';

/** Most programs to remember: the largest `health.failuresMax`. An engine may fail for hours without a success. */
const PROGRAMS_MAX = 1000;

/**
 * Evidence against an engine from its answers since its last good one. It counts programs, not calls: the request
 * itself may cause a bad answer, and one client may repeat that request endlessly.
 */
export class Evidence {
  readonly #failed = new Set<ProgramId>();
  readonly #outdone = new Set<ProgramId>();

  failed(program: ProgramId): void {
    if (this.#failed.size < PROGRAMS_MAX) this.#failed.add(program);
  }

  /** Another engine answered a call that this one failed, so the request was not at fault. */
  outdone(program: ProgramId): void {
    if (this.#outdone.size < PROGRAMS_MAX) this.#outdone.add(program);
  }

  /** Whether the evidence justifies a probe. @param programs least number of programs */
  asks(programs: number): boolean {
    return this.#failed.size >= programs;
  }

  /** Whether the evidence justifies ejecting an engine that reports itself healthy. */
  convicts(programs: number): boolean {
    return this.#outdone.size >= programs;
  }

  /** A good probe answers the question that the failed answers raised. */
  excuse(): void {
    this.#failed.clear();
  }

  /** Each good answer comes here, and clearing an empty set makes a new table. */
  clear(): void {
    if (this.#failed.size > 0) this.#failed.clear();
    if (this.#outdone.size > 0) this.#outdone.clear();
  }
}
