/**
 * Consecutive steps, each longer than the one before by the same time: an arithmetic series, whose sums have a closed
 * form. `done` of them have ended.
 */
export class Stretch {
  done = 0;

  constructor(
    readonly startMs: number,
    readonly firstMs: number,
    readonly growthMs: number,
    public steps: number,
  ) {}

  endOf(steps: number): number {
    return this.startMs + steps * this.firstMs + (this.growthMs * steps * (steps - 1)) / 2;
  }

  /**
   * Number of steps that ended before `now`, never counting the last. Computed as the root of `endOf`, then corrected
   * for rounding. An event at the very end of a step is in time for the next.
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
