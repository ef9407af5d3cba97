import type { ChildProcess } from 'node:child_process';

/** Messages that the other process has not read: above, those that it can miss are dropped. */
const UNREAD_MAX = 10_000;

/** Messages to a process, in order. */
export class Channel<T extends object> {
  #unread = 0;

  /** @param canMiss whether the other process can do without the message: it stands still */
  constructor(
    private readonly process: Pick<ChildProcess, 'connected'> & Partial<Pick<ChildProcess, 'send'>>,
    private readonly canMiss: (message: T) => boolean,
  ) {}

  send(message: T): void {
    if (!this.process.connected || (this.#unread >= UNREAD_MAX && this.canMiss(message))) return;
    this.#unread += 1;
    this.process.send?.(message, undefined, undefined, () => (this.#unread -= 1));
  }
}
