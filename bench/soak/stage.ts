import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEngines } from '../../processes/gateway.js';
import { untilReady } from '../../processes/http.js';
import { Revivable } from '../../processes/revivable.js';
import type { SoakOptions } from './options.js';
import { configOf, presetOf, type Variation } from './setting.js';

/** The processes: engines, and the gateway before them. */
export class Stage {
  readonly engines: readonly Revivable[];
  readonly gateway: Revivable;
  readonly #folder = mkdtempSync(join(tmpdir(), 'maitred-soak-'));
  readonly #config = join(this.#folder, 'maitred.json');

  constructor(private readonly options: SoakOptions) {
    this.engines = Array.from({ length: options.engines }, (_, index) => {
      const preset = join(this.#folder, `engine-${index}.json`);
      writeFileSync(preset, JSON.stringify(presetOf(index, options)));
      return new Revivable(['engine', '--preset', preset, '--seed', `${options.seed + index}`]);
    });
    this.gateway = new Revivable(['serve', '--config', this.#config]);
  }

  async open(): Promise<void> {
    await Promise.all(this.engines.map((engine) => engine.start()));
    this.#write('as it was');
    await this.gateway.start();
    await this.allUp();
  }

  /** Waits until all engines take calls. @throws Error when they do not */
  async allUp(): Promise<void> {
    await untilReady(async () => {
      const rows = await readEngines(this.gateway.url);
      const up = rows.filter(({ state }) => state === 'up' || state === 'probation');
      return up.length === this.engines.length ? undefined : `up are ${up.length} of ${this.engines.length} engines`;
    });
  }

  reload(variation: Variation): void {
    this.#write(variation);
    this.gateway.signal('SIGHUP');
  }

  async close(): Promise<void> {
    await Promise.all([this.gateway, ...this.engines].map((each) => each.kill()));
    rmSync(this.#folder, { recursive: true });
  }

  #write(variation: Variation): void {
    const urls = this.engines.map(({ url }) => url);
    writeFileSync(this.#config, JSON.stringify(configOf(urls, this.options, variation)));
  }
}
