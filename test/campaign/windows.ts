import type { Command } from '../../src/index.js';
import type { World } from './world.js';

/** For all gateways to share again, with ledgers that know each of them (`settleMs` of cluster/). */
const HEALED_MS = 9000;
/** For all to hear of a new window. */
const HEARD_MS = 500;

/** Holds gateways that share engines to their windows, as docs/CLUSTER.md promises. */
export class Windows {
  #exactAtMs = -Infinity;
  #mostWindow = 0;

  constructor(private readonly world: World) {}

  /** The store, or the gateways' way to it, is not well for a while. */
  disturbed(): void {
    this.#exactAtMs = this.world.clock.now + HEALED_MS;
  }

  reloaded(): void {
    this.#exactAtMs = Math.max(this.#exactAtMs, this.world.clock.now + HEARD_MS);
  }

  check(commands: readonly Command[]): void {
    const { nodes, settings, clock } = this.world;
    const { window, policy } = settings;
    this.#mostWindow = Math.max(this.#mostWindow, policy === 'pass-through' ? Infinity : window);
    const others = nodes.length - 2;
    const most = clock.now < this.#exactAtMs ? 2 * this.#mostWindow + others * Math.ceil(this.#mostWindow / nodes.length) : this.#exact; // prettier-ignore
    for (const command of commands) {
      if (command.type !== 'dispatch') continue;
      const running = nodes.reduce((sum, { oracle }) => sum + oracle.book.running(command.engine), 0);
      if (running > most)
        this.world.wrong(`G8: ${command.engine} runs ${running} calls of all gateways, and ${most} are allowed`);
    }
  }

  get #exact(): number {
    const { window, policy } = this.world.settings;
    return policy === 'pass-through' ? Infinity : window;
  }
}
