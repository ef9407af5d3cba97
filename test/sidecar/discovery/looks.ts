import type { EngineConfig, SourceConfig } from '../../../sidecar/config/index.js';
import { Discovery } from '../../../sidecar/discovery/discovery.js';
import { cleanUp } from '../../support/clean-up.js';
import { ManualTimers, until } from '../engines/manual-timers.js';

/** What a source reports, under manual time. */
export class Looks {
  readonly timers = new ManualTimers();
  /** The reasons that were logged. */
  readonly logged: string[] = [];
  /** Each look: the engines found, or why there were none. */
  readonly #all: (readonly EngineConfig[] | string)[] = [];

  constructor(source: SourceConfig) {
    let failures = 0;
    const discovery = new Discovery({
      membership: { found: (_, { engines }) => void this.#all.push(engines), sizeOf: () => 0 },
      log: { info: () => undefined, warn: (fields) => void this.logged.push((fields as { reason: string }).reason) },
      // A look ends with the rest until the next.
      setTimer: (fn, ms) => {
        const [state] = discovery.sources;
        if (state!.failures > failures) this.#all.push(this.logged.at(-1)!);
        failures = state!.failures;
        return this.timers.set(fn, ms);
      },
    });
    discovery.configure([source]);
    cleanUp(() => discovery.close());
  }

  /** Waits for a look beyond those taken, and takes it. */
  async next(): Promise<readonly EngineConfig[] | string> {
    await until(() => this.#all.length > 0);
    return this.#all.shift()!;
  }

  /** The engines' URLs of the next look, or why it failed. */
  async urls(): Promise<readonly string[] | string> {
    const look = await this.next();
    return typeof look === 'string' ? look : look.map(({ url }) => url);
  }

  /** Waits until the source rests, and returns for how many milliseconds. */
  async pause(): Promise<number> {
    await until(() => this.timers.pending.length > 0);
    return this.timers.pending[0]!;
  }

  /** Ends the pause. */
  async again(): Promise<void> {
    this.timers.advance(await this.pause());
  }
}
