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
    const window = settings.policy === 'pass-through' ? Infinity : settings.window;
    this.#mostWindow = Math.max(this.#mostWindow, window);
    // One gateway may have had all calls in flight when the others took their equal shares.
    const alone = this.#mostWindow + (nodes.length - 1) * Math.ceil(this.#mostWindow / nodes.length);
    const most = clock.now < this.#exactAtMs ? alone : window;
    for (const command of commands) {
      if (command.type !== 'dispatch') continue;
      const running = nodes.reduce((sum, { oracle }) => sum + oracle.book.running(command.engine), 0);
      if (running > most)
        this.world.wrong(`G8: ${command.engine} runs ${running} calls of all gateways, and ${most} are allowed`);
    }
  }
}
