import { isDeepStrictEqual } from 'node:util';
import { labelOf, type EngineConfig, type SourceConfig } from '../config/index.js';
import type { Log, SetTimer } from '../engines/index.js';
import { setTimer } from '../timer.js';
import { watchDns, type Source } from './dns.js';
import type { Membership } from './membership.js';

/** Most engines of one source: a wrong name must not fill the fleet. */
export const ENGINES_MAX = 1000;
export const tooMany = ({ length }: readonly unknown[]): string => `lists ${length} engines, more than ${ENGINES_MAX}`;

export interface DiscoveryPorts {
  readonly membership: Membership;
  readonly log: Log;
  readonly setTimer: SetTimer;
}

/** State of a source, for metrics. */
export interface SourceState {
  readonly label: string;
  /** Looks that failed or found no engine. */
  readonly failures: number;
  /** Unix time of the last look that found engines, in milliseconds; 0: none has. */
  readonly foundAtMs: number;
}

/** The running sources. Engines that they find go to the membership; a failure that repeats is logged once. */
export class Discovery {
  #sources: readonly Watched[] = [];

  constructor(private readonly ports: DiscoveryPorts) {}

  /** Starts new and changed sources, and ends those that are gone. The others go on undisturbed. */
  configure(configs: readonly SourceConfig[]): void {
    const next = configs.map(
      (config) =>
        this.#sources.find((source) => isDeepStrictEqual(source.config, config)) ?? new Watched(config, this.ports),
    );
    for (const source of this.#sources) if (!next.includes(source)) source.close();
    this.#sources = next;
  }

  /** Whether every source has looked once. */
  get hasLooked(): boolean {
    return this.#sources.every((source) => source.hasLooked);
  }

  get states(): readonly SourceState[] {
    return this.#sources;
  }

  close(): void {
    this.configure([]);
  }
}

/** One source and the results of its polls. */
class Watched implements SourceState {
  readonly label: string;
  failures = 0;
  foundAtMs = 0;
  hasLooked = false;
  readonly #source: Source;
  /** The reasons that were logged since the source last answered. */
  readonly #told = new Set<string>();

  constructor(
    readonly config: SourceConfig,
    private readonly ports: DiscoveryPorts,
  ) {
    this.label = labelOf(config);
    this.#source = watchDns(config, {
      found: (engines) => this.#found(engines),
      failed: (reason) => this.#failed(reason),
      setTimer: ports.setTimer,
    });
  }

  close(): void {
    this.#source.close();
  }

  #found(engines: readonly EngineConfig[]): void {
    const { graceMs, models } = this.config;
    const mayBeEmpty = models !== undefined;
    if (engines.length > ENGINES_MAX) return this.#failed(tooMany(engines));
    this.ports.membership.found(this.label, { engines, graceMs, mayBeEmpty });
    if (engines.length === 0 && !mayBeEmpty) return this.#failed('lists no engine');
    this.hasLooked = true;
    this.foundAtMs = Date.now();
    if (this.#told.size === 0) return;
    this.#told.clear();
    this.ports.log.info({ source: this.label, engines: engines.length }, 'discovery answers again');
  }

  #failed(reason: string): void {
    this.hasLooked = true;
    this.failures += 1;
    if (this.#told.has(reason)) return;
    this.#told.add(reason);
    const kept = this.ports.membership.sizeOf(this.label);
    this.ports.log.warn({ source: this.label, reason, kept }, 'discovery failed; engines found before stay');
  }
}

/** The engines that a source has now. @throws Error with the reason if the source fails */
export function firstLook(config: SourceConfig): Promise<readonly EngineConfig[]> {
  return new Promise((resolve, reject) => {
    const source = watchDns(config, {
      setTimer,
      found: (engines) => {
        source.close();
        resolve(engines);
      },
      failed: (reason) => {
        source.close();
        reject(new Error(reason));
      },
    });
  });
}
