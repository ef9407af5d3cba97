import type { SchedulerConfig } from './config.js';
import { Engine } from './engine.js';
import type { EngineJoined } from './events.js';
import { Pool } from './pool.js';
import type { EngineId, ModelId } from './units.js';

/** The engines, and for each model the pool of those that serve it. */
export class Roster {
  readonly engines = new Map<EngineId, Engine>();
  readonly #pools = new Map<ModelId, Pool>();
  #joins = 0;

  /** The engine's row, made or updated; its pools are set by `serve`. */
  join(event: EngineJoined, admission: SchedulerConfig['admission']): Engine {
    let engine = this.engines.get(event.engine);
    if (engine === undefined) {
      engine = new Engine(event.engine, this.#joins++, admission, event);
      this.engines.set(engine.id, engine);
    }
    engine.join(admission, event);
    return engine;
  }

  /** Makes the engine's pools those of `models`. Returns the pools that it has left. */
  serve(engine: Engine, models: readonly ModelId[]): Pool[] {
    for (const model of this.#pools.keys()) this.serves(model);
    const left = engine.pools.filter((pool) => !models.includes(pool.model));
    for (const pool of left) pool.engines = pool.engines.filter((other) => other !== engine);
    for (const model of models) {
      let pool = this.#pools.get(model);
      if (pool === undefined) this.#pools.set(model, (pool = new Pool(model)));
      if (!pool.engines.includes(engine)) pool.engines = [...pool.engines, engine].sort((a, b) => a.index - b.index);
    }
    engine.pools = models.map((model) => this.pool(model));
    for (const pool of [...left, ...engine.pools]) pool.refresh();
    return left;
  }

  /** Pool of a model that is served, or that calls still wait for. */
  pool(model: ModelId): Pool {
    return this.#pools.get(model) as Pool;
  }

  /** Whether any engine, up or lost, serves the model: without one its calls cannot wait. */
  serves(model: ModelId): boolean {
    const pool = this.#pools.get(model);
    if (pool?.engines.length === 0 && pool.anywhere.size === 0) this.#pools.delete(model);
    return pool !== undefined && pool.engines.length > 0;
  }

  /** A drained engine is forgotten with its last call. */
  removeIfDone(engine: Engine): void {
    if (engine.state === 'draining' && engine.inFlight === 0) this.engines.delete(engine.id);
  }
}
