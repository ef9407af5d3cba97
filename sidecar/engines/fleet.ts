import { isDeepStrictEqual } from 'node:util';
import { engineId, modelId, type EngineId } from '../../src/index.js';
import type { EngineConfig } from '../config/index.js';
import { addressOf, idOf } from './address.js';
import type { FleetPorts } from './engine.js';
import { Replica, type Engine, type FleetConfig } from './replica.js';

/** The scheduler's engine that all awaited models have and that is never up, so that calls can wait for it. No id of ours has a `~`. */
const AWAITED = engineId('~awaited');

/** The engine replicas. Only the fleet probes, ejects and reinstates them; the scheduler hears of it by events. */
export class Fleet {
  /** Models for which calls may wait although no engine serves them. */
  awaited: ReadonlySet<string> = new Set();
  readonly #replicas = new Map<EngineId, Replica>();
  /** Removed engines whose connections close as their last calls end. */
  readonly #retired = new Set<Replica>();
  #cancelSweep: (() => void) | undefined;

  constructor(
    private readonly config: FleetConfig,
    private readonly ports: FleetPorts,
  ) {}

  get(id: EngineId): Engine | undefined {
    return this.#replicas.get(id);
  }

  list(): readonly Engine[] {
    return [...this.#replicas.values()];
  }

  /** Engines that serve `model`, in any state, except those being removed. */
  serving(model: string): readonly Engine[] {
    return [...this.#replicas.values()].filter((replica) => !replica.removing && replica.models.has(model));
  }

  expectModels(models: readonly string[]): void {
    if (models.length === 0 && this.awaited.size === 0) return;
    this.awaited = new Set(models);
    const event = {
      type: 'engineJoined',
      engine: AWAITED,
      models: [...this.awaited].map(modelId),
      down: true,
    } as const;
    this.ports.emit(models.length > 0 ? event : { type: 'engineDrained', engine: AWAITED });
  }

  /** Stops new calls to the engine; running ones finish. */
  drain(id: EngineId): void {
    this.#replicas.get(id)?.drain();
  }

  resume(id: EngineId): void {
    this.#replicas.get(id)?.resume();
  }

  /** Makes the engines those `wanted`. Calls finish where they run; an engine drained by an operator stays drained. */
  reconcile(wanted: ReadonlyMap<EngineId, EngineConfig>): void {
    for (const replica of this.#replicas.values()) if (!wanted.has(replica.id)) replica.remove();
    this.#sweep();
    for (const [id, config] of wanted) {
      const known = this.#replicas.get(id);
      const drained = known?.state === 'draining' && !known.removing;
      const replica = known && isDeepStrictEqual(known.config, config) ? known : this.#put(config);
      if (drained) replica.drain();
      else replica.resume();
    }
  }

  /** Milliseconds until an engine of the model that is down or on probation is up, if healthy; Infinity: none is. */
  backInMs(model: string): number {
    const serving = [...this.#replicas.values()].filter((replica) => replica.models.has(model));
    return Math.min(...serving.map((replica) => replica.backInMs));
  }

  /** Ends probes and closes connections; running calls fail. */
  async close(): Promise<void> {
    this.#cancelSweep?.();
    const replicas = [...this.#replicas.values(), ...this.#retired];
    this.#replicas.clear();
    await Promise.all(replicas.map((replica) => replica.close('break')));
  }

  /** Creates a replica, or reconfigures the known one. If its connections change, a new replica replaces it. */
  #put(config: EngineConfig): Replica {
    const known = this.#replicas.get(idOf(config));
    if (known && known.url.href === addressOf(config).url.href && known.config.serverName === config.serverName) {
      known.reconfigure(config);
      return known;
    }
    const replica = new Replica(config, this.config, this.ports);
    if (known) {
      known.drain();
      this.#retire(known);
    }
    this.#replicas.set(replica.id, replica);
    return replica;
  }

  #retire(replica: Replica): void {
    this.#retired.add(replica);
    void replica.close('finish').finally(() => this.#retired.delete(replica));
  }

  /** Forgets removed engines without calls. Runs again while others still have calls. */
  #sweep(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
    let waiting = false;
    for (const [id, replica] of this.#replicas) {
      if (!replica.removing) continue;
      if (replica.inFlight > 0) {
        waiting = true;
        continue;
      }
      this.#replicas.delete(id);
      this.#retire(replica);
      this.ports.log.info({ engine: id }, 'engine removed');
    }
    if (waiting) this.#cancelSweep = this.ports.setTimer(() => this.#sweep(), this.config.health.intervalMs);
  }
}
