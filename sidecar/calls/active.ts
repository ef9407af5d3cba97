/** Work in progress that the gateway must end when it shuts down. */
export interface Active {
  /** Whether an engine works on it. */
  readonly isRunning: boolean;
  /** Ends the work because the gateway is shutting down: informs the client and releases the engine. */
  drainedAway(): void;
}

/** Calls and passed-through requests in progress. Signals when the last one ends. */
export class ActiveSet {
  readonly #members = new Set<Active>();
  #onEmpty: (() => void) | undefined;

  get size(): number {
    return this.#members.size;
  }

  add(member: Active): void {
    this.#members.add(member);
  }

  delete(member: Active): void {
    this.#members.delete(member);
    if (this.#members.size === 0) this.#onEmpty?.();
  }

  /** Resolves when the set is empty, or after `ms` milliseconds. */
  async emptied(ms: number): Promise<void> {
    if (this.#members.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, 2 ** 31 - 1));
      this.#onEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Waiting calls go first: the slots of running ones would be given to them. */
  drainAway(): void {
    const members = [...this.#members];
    const running = members.filter(({ isRunning }) => isRunning);
    for (const member of [...members.filter(({ isRunning }) => !isRunning), ...running]) member.drainedAway();
  }
}
