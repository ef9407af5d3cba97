import type { EngineJoined } from '../../src/index.js';
import { modelOf } from './window.js';

/** Engines that share models, and so calls. */
export interface Pool {
  readonly models: ReadonlySet<string>;
  readonly engines: readonly EngineJoined[];
}

/** Every engine is in one pool: with those that serve one of its models, directly or through others. */
export function poolsOf(engines: readonly EngineJoined[]): Pool[] {
  let pools: Pool[] = [];
  for (const engine of engines) {
    const models = engine.models.map(modelOf);
    const joined = pools.filter((pool) => models.some((model) => pool.models.has(model)));
    const merged = {
      models: new Set([...joined.flatMap((pool) => [...pool.models]), ...models]),
      engines: [...joined.flatMap((pool) => pool.engines), engine],
    };
    pools = [...pools.filter((pool) => !joined.includes(pool)), merged];
  }
  return pools;
}
