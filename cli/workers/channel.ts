import type { ChildProcess } from 'node:child_process';

/** Batches that the other process has not read: above, messages that it can miss are dropped. */
const UNREAD_MAX = 1000;

/** Messages to a process, in order. Those of one tick travel together: a message costs more than its contents. */
export class Channel<T extends object> {
  #batch: T[] = [];
  #unread = 0;

  /** @param canMiss whether the other process can do without the message: it stands still */
  constructor(
    private readonly process: Pick<ChildProcess, 'connected'> & Partial<Pick<ChildProcess, 'send'>>,
    private readonly canMiss: (message: T) => boolean,
  ) {}

  send(message: T): void {
    if (!this.process.connected || (this.#unread >= UNREAD_MAX && this.canMiss(message))) return;
    if (this.#batch.push(message) === 1) setImmediate(() => this.flush());
  }

  /** Sends what there is, now. */
  flush(): void {
    const batch = this.#batch;
    this.#batch = [];
    if (batch.length === 0 || !this.process.connected) return;
    this.#unread += 1;
    this.process.send?.(batch, undefined, undefined, () => (this.#unread -= 1));
  }
}
