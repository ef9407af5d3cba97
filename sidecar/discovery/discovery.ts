import { isDeepStrictEqual } from 'node:util';
import { labelOf, REFRESH_MS_MIN, type EngineConfig, type SourceConfig } from '../config/index.js';
import type { Log, SetTimer } from '../engines/index.js';
import { reasonOf } from '../errors.js';
import { lookUp, makeResolver } from './dns.js';
import type { Membership } from './membership.js';

/** Waits between failed looks double from here. */
const BACKOFF_MS = 1000;

/** A source with `models` that lists no engine, in the log, the status and `maitred doctor`. */
export const AT_ZERO = 'scaled to zero, as configured; calls for its models wait';

export interface DiscoveryPorts {
  readonly membership: Pick<Membership, 'found' | 'sizeOf'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly setTimer: SetTimer;
}

export type SourceState = Readonly<Pick<Watched, 'label' | 'failures' | 'foundAtMs'>>;

/** The running sources. Engines that they find go to the membership; a failure that repeats is logged once. */
export class Discovery {
  sources: readonly Watched[] = [];

  constructor(private readonly ports: DiscoveryPorts) {}

  /** Starts new and changed sources, and ends those that are gone. The others go on undisturbed. */
  configure(configs: readonly SourceConfig[]): void {
    const next = configs.map(
      (config) =>
        this.sources.find((source) => isDeepStrictEqual(source.config, config)) ?? new Watched(config, this.ports),
    );
    for (const source of this.sources) if (!next.includes(source)) source.close();
    this.sources = next;
  }

  get hasLooked(): boolean {
    return this.sources.every((source) => source.hasLooked);
  }

  close(): void {
    this.configure([]);
  }
}

/** One source, asked again and again. */
class Watched {
  readonly label: string;
  /** Looks that failed or found no engine. */
  failures = 0;
  /** Unix time of the last look that found engines, in milliseconds; 0: none has. */
  foundAtMs = 0;
  hasLooked = false;
  /** Failed looks since the last good one. */
  #setbacks = 0;
  /** The reasons that were logged since the source last answered. */
  readonly #told = new Set<string>();
  #resolver = makeResolver();
  #isClosed = false;
  #cancelTimer = (): void => undefined;

  constructor(
    readonly config: SourceConfig,
    private readonly ports: DiscoveryPorts,
  ) {
    this.label = labelOf(config);
    void this.#look();
  }

  /** Nothing is reported afterwards. */
  close(): void {
    this.#isClosed = true;
    this.#cancelTimer();
    this.#resolver.cancel();
  }

  async #look(): Promise<void> {
    this.#resolver = makeResolver();
    const { refreshMs } = this.config.dns;
    let waitMs = refreshMs;
    try {
      const { engines, ttlMs, absence } = await lookUp(this.config, this.#resolver);
      if (this.#isClosed) return;
      waitMs = Math.max(REFRESH_MS_MIN, Math.min(ttlMs, refreshMs));
      this.#setbacks = 0;
      this.#found(engines, absence);
    } catch (error) {
      if (this.#isClosed) return;
      // Half of the wait is by chance, so that gateways spread.
      waitMs = Math.min(BACKOFF_MS * 2 ** this.#setbacks, refreshMs) * (0.5 + Math.random() / 2);
      this.#setbacks += 1;
      this.#failed(reasonOf(error));
    }
    this.#cancelTimer = this.ports.setTimer(() => void this.#look(), waitMs);
  }

  #found(engines: readonly EngineConfig[], absence: string): void {
    const { graceMs, models } = this.config;
    const mayBeEmpty = models !== undefined;
    this.ports.membership.found(this.label, { engines, graceMs, mayBeEmpty });
    if (engines.length === 0 && !mayBeEmpty) return this.#failed('lists no engine');
    this.hasLooked = true;
    this.foundAtMs = Date.now();
    if (engines.length === 0) return this.#tell('info', absence, `no engine: ${AT_ZERO}`);
    if (this.#told.size === 0) return;
    this.#told.clear();
    this.ports.log.info({ source: this.label, engines: engines.length }, 'discovery answers again');
  }

  #failed(reason: string): void {
    this.hasLooked = true;
    this.failures += 1;
    this.#tell('warn', reason, 'discovery failed; engines found before stay');
  }

  #tell(level: 'info' | 'warn', reason: string, message: string): void {
    if (this.#told.has(reason)) return;
    this.#told.add(reason);
    this.ports.log[level]({ source: this.label, reason, kept: this.ports.membership.sizeOf(this.label) }, message);
  }
}
