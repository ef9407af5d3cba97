import type { SchedulerConfig } from '../config.js';
import { Engine } from './engine.js';
import type { Call } from '../programs/call.js';
import type { EngineJoined } from '../protocol/events.js';
import { ModelPool } from '../queues/model-pool.js';
import type { EngineId, ModelId } from '../protocol/units.js';

/** All engines, and for each model the pool of engines that serve it. */
export class EngineTable {
  readonly engines = new Map<EngineId, Engine>();
  readonly #pools = new Map<ModelId, ModelPool>();
  #joins = 0;

  /** Makes or updates the engine's row. `serve` sets its pools. */
  join(event: EngineJoined, admission: SchedulerConfig['admission']): Engine {
    let engine = this.engines.get(event.engine);
    if (engine === undefined) {
      engine = new Engine(event.engine, this.#joins++, admission, event);
      this.engines.set(engine.id, engine);
    }
    engine.join(admission, event);
    return engine;
  }

  /** Sets the engine's pools to those of `models`. Returns the pools that it has left. */
  serve(engine: Engine, models: readonly ModelId[]): ModelPool[] {
    // Only a change of served models leaves pools without engines and waiting calls.
    for (const [model, pool] of this.#pools)
      if (pool.engines.length === 0 && pool.waiting === 0) this.#pools.delete(model);
    const left = engine.pools.filter((pool) => !models.includes(pool.model));
    for (const pool of left) pool.engines = pool.engines.filter((other) => other !== engine);
    for (const model of models) {
      let pool = this.#pools.get(model);
      if (pool === undefined) this.#pools.set(model, (pool = new ModelPool(model)));
      if (!pool.engines.includes(engine)) pool.engines = [...pool.engines, engine].sort((a, b) => a.index - b.index);
    }
    engine.pools = models.map((model) => this.pool(model));
    for (const pool of [...left, ...engine.pools]) pool.refresh();
    return left;
  }

  /** The pool of a model that is served or that calls still wait for. */
  pool(model: ModelId): ModelPool {
    return this.#pools.get(model) as ModelPool;
  }

  /** Whether any engine, or the named one, serves the model, up or lost: without one its calls cannot wait. */
  serves(model: ModelId, only?: EngineId): boolean {
    return this.#pools.get(model)?.engines.some(({ id }) => (only ?? id) === id) === true;
  }

  *running(): IterableIterator<Call> {
    for (const { running } of this.engines.values()) for (const call of running) if (!call.isOversized) yield call;
  }

  /** Forgets a draining engine whose last call has ended. */
  removeIfDone(engine: Engine): void {
    if (engine.state === 'draining' && engine.inFlight === 0) this.engines.delete(engine.id);
  }
}
