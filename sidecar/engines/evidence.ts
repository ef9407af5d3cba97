import type { ProgramId } from '../../src/index.js';

/** Without another one for so long, an engine's failures are over. */
export const FAILURES_OVER_MS = 60_000;

/** Failures and good answers of an engine, as its calls tell them. */
export class Evidence {
  /**
   * Programs whose calls it failed since its last good answer, and those for which another engine then answered the same
   * call, so that the request was not at fault. Programs, not calls: one client may repeat a bad request endlessly.
   */
  readonly failed = new Set<ProgramId>();
  readonly outdone = new Set<ProgramId>();
  /** How it failed the last of these. */
  fault = '';
  /** Signs of good answers and ejections so far: what it failed before the last one is not held against it. */
  acquittals = 0;
  /** When the failures of calls began of which the last one may not be over. */
  failingSinceMs = Infinity;
  #failedAtMs = -Infinity;

  fails(nowMs: number): void {
    if (nowMs - this.#failedAtMs > FAILURES_OVER_MS) this.failingSinceMs = nowMs;
    this.#failedAtMs = nowMs;
  }

  succeeds(): void {
    this.acquittals += 1;
    this.clear();
  }

  /** Each good answer comes here, and clearing an empty set makes a new table. */
  clear(): void {
    for (const programs of [this.failed, this.outdone]) if (programs.size > 0) programs.clear();
  }
}
