import type { EngineConfig } from '../../../sidecar/config/schema.js';
import type { Source, SourcePorts } from '../../../sidecar/discovery/dns.js';
import { cleanUp } from '../../support/clean-up.js';
import { ManualTimers, until } from '../engines/manual-timers.js';

/** Closes it after the test. */
export function closing<T extends { close(): unknown }>(one: T): T {
  cleanUp(() => one.close());
  return one;
}

/** What a source reports, under manual time. */
export class Looks {
  readonly timers = new ManualTimers();
  /** Each look: the engines found, or why there were none. */
  readonly all: (readonly EngineConfig[] | string)[] = [];

  constructor(start: (ports: SourcePorts) => Source) {
    closing(
      start({
        found: (engines) => void this.all.push(engines),
        failed: (reason) => void this.all.push(reason),
        setTimer: this.timers.set,
      }),
    );
  }

  /** Waits for a look beyond those taken, and takes it. */
  async next(): Promise<readonly EngineConfig[] | string> {
    await until(() => this.all.length > 0);
    return this.all.shift()!;
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
