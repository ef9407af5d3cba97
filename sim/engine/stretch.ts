/**
 * Steps that follow each other at once, each longer than the one before by the same time: an arithmetic series, whose
 * sums have a closed form. `done` of them are over.
 */
export class Stretch {
  done = 0;

  constructor(
    readonly startMs: number,
    readonly firstMs: number,
    readonly growthMs: number,
    public steps: number,
  ) {}

  /** When so many of its steps are over. */
  endOf(steps: number): number {
    return this.startMs + steps * this.firstMs + (this.growthMs * steps * (steps - 1)) / 2;
  }

  /**
   * Steps that ended before `now`; the last never has. The root of `endOf`, moved to where it really lies: what comes at
   * the very end of a step comes in time for the next.
   */
  over(now: number): number {
    const b = this.firstMs - this.growthMs / 2;
    const elapsed = Math.max(0, now - this.startMs);
    const root = (2 * elapsed) / (b + Math.sqrt(b * b + 2 * this.growthMs * elapsed));
    let steps = Math.min(Math.floor(root), this.steps - 1);
    while (steps > 0 && this.endOf(steps) >= now) steps -= 1;
    while (steps < this.steps - 1 && this.endOf(steps + 1) < now) steps += 1;
    return steps;
  }
}
