import type { EngineId } from '../../src/index.js';
import type { EngineConfig } from '../config/index.js';
import { byId, idOf, placeOf } from '../engines/address.js';
import { isServing, type Engine, type Fleet, type Log } from '../engines/index.js';
import { GatewayError } from '../errors.js';

/** Origins of engines besides the sources of discovery. */
const BY_HAND = 'admin';
const CONFIGURED = 'config';

interface Member {
  readonly config: EngineConfig;
  /** Undefined while its source lists it. */
  readonly missingSinceMs: number | undefined;
}

/** One look of a source: all engines that it knows. */
export interface Look {
  readonly engines: readonly EngineConfig[];
  readonly graceMs: number;
  /** Whether the source may list none: it then takes away those that are not up. */
  readonly mayBeEmpty: boolean;
}

/**
 * The set of engines for the fleet; nothing else changes it. Reload, operators and discovery each own their
 * engines and leave the others' alone. If two want the same id, or a source the address of another, the first counts:
 * operators, then the configuration, then its sources in their order.
 */
export class Membership {
  readonly #byHand = new Map<EngineId, EngineConfig>();
  #configured: ReadonlyMap<EngineId, EngineConfig> = new Map();
  #sources: ReadonlyMap<string, ReadonlyMap<EngineId, Member>> = new Map();
  /** Engines that a reload dropped, until those that it added have joined. */
  #outgoing = new Map<EngineId, EngineConfig>();
  /** Engines that an operator removed, while the configuration or a source still has them. */
  readonly #withdrawn = new Set<EngineId>();
  /** Engines that are left out because their id is that of another one; each is warned of once. */
  #shadowed: ReadonlySet<string> = new Set();
  #wanted = new Map<EngineId, EngineConfig>();
  #origins = new Map<EngineId, string>();

  /** @param now the clock, in milliseconds */
  constructor(
    private readonly fleet: Fleet,
    private readonly now: () => number,
    private readonly log: Log,
  ) {}

  /** Owner of the engine: `admin`, `config`, or the label of a source. Undefined: it is being removed. */
  originOf(id: EngineId): string | undefined {
    return this.#origins.get(id);
  }

  sizeOf(label: string): number {
    return this.#sources.get(label)?.size ?? 0;
  }

  /**
   * Applies a configuration, and forgets the changes of operators. Engines that are no longer wanted stay until
   * `settle`. A source that was there before keeps its engines.
   * @param labels those of all sources
   * @throws GatewayError `engine_exists`; then nothing has changed
   */
  configure(engines: readonly EngineConfig[], labels: readonly string[]): void {
    this.#configured = byId(engines);
    this.#byHand.clear();
    this.#withdrawn.clear();
    this.#sources = new Map(labels.map((label) => [label, this.#sources.get(label) ?? new Map<EngineId, Member>()]));
    this.#outgoing = this.#wanted;
    this.#apply();
  }

  /** Drops the engines that the last configuration removed: its new ones have had time to join. */
  settle(): void {
    this.#outgoing = new Map();
    this.#apply();
  }

  /**
   * Adds an engine, or returns a draining one with this id to service.
   * @throws GatewayError `engine_exists` if one with this id is in service, or another one has its address
   */
  add(config: EngineConfig): Engine {
    const id = idOf(config);
    const known = this.fleet.get(id);
    if (known && known.state !== 'draining')
      throw new GatewayError('engine_exists', `There is already an engine ${id}.`, { param: 'id' });
    for (const [other, { url }] of this.#wanted)
      if (other !== id && placeOf({ url }) === placeOf(config))
        throw new GatewayError(
          'engine_exists',
          `${url} is there as the engine ${other}: name each engine once, or remove that one first.`,
          { param: 'url' },
        );
    this.#withdrawn.delete(id);
    this.#byHand.set(id, config);
    this.#apply();
    this.fleet.resume(id);
    return this.fleet.get(id) as Engine;
  }

  /** Drains the engine, and forgets it after its last call, for any owner. */
  remove(id: EngineId): void {
    this.#byHand.delete(id);
    this.#outgoing.delete(id);
    const sources = [...this.#sources.values()];
    if (this.#configured.has(id) || sources.some((members) => members.has(id))) this.#withdrawn.add(id);
    this.#apply();
  }

  /**
   * Takes the engines that a source knows. One that is missing stays for `graceMs`. One that is missing and up stays
   * until the source lists another that is up. A source that lists none takes none away, unless it may be empty.
   */
  found(label: string, { engines, graceMs, mayBeEmpty }: Look): void {
    const known = this.#sources.get(label);
    if (known === undefined) return;
    const now = this.now();
    const members = new Map<EngineId, Member>();
    for (const config of engines) members.set(idOf(config), { config, missingSinceMs: undefined });
    const listed = members.size;
    const up = new Set(this.fleet.list().flatMap((engine) => (isServing(engine) ? engine.id : [])));
    const listsOneUp = [...members.keys()].some((id) => up.has(id));
    for (const [id, { config, missingSinceMs = now }] of known) {
      if (members.has(id)) continue;
      const mayLeave = (listed > 0 || mayBeEmpty) && (listsOneUp || !up.has(id));
      if (mayLeave && now - missingSinceMs >= graceMs) this.#withdrawn.delete(id);
      else members.set(id, { config, missingSinceMs });
    }
    this.#sources = new Map(this.#sources).set(label, members);
    this.#apply();
  }

  #apply(): void {
    const before = this.#origins;
    const shadowed = new Set<string>();
    const wanted = new Map<EngineId, EngineConfig>();
    const origins = new Map<EngineId, string>();
    const addresses = new Set<string>();
    const put = (origin: string, id: EngineId, config: EngineConfig) => {
      if (wanted.has(id) || this.#withdrawn.has(id)) return;
      wanted.set(id, config);
      origins.set(id, origin);
      addresses.add(placeOf(config));
    };
    for (const [id, config] of this.#byHand) put(BY_HAND, id, config);
    for (const [id, config] of this.#configured) put(CONFIGURED, id, config);
    for (const [label, members] of this.#sources) {
      for (const [id, { config }] of members) {
        if (addresses.has(placeOf(config))) continue;
        if (wanted.has(id)) shadowed.add(`${id} of ${label}`);
        put(label, id, config);
      }
    }
    for (const [id, config] of this.#outgoing) put(before.get(id) ?? CONFIGURED, id, config);
    this.#origins = origins;
    this.#wanted = wanted;
    for (const engine of shadowed)
      if (!this.#shadowed.has(engine)) this.log.warn({ engine }, 'engine left out: its id is that of another engine');
    this.#shadowed = shadowed;
    this.fleet.reconcile(wanted);
  }
}
