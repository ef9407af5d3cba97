import { modelId, tokens, type EngineJoined, type EngineReported } from '../../src/index.js';
import type { LoadReport } from './adapter.js';
import type { Engine } from './fleet.js';

/** What the scheduler must know of an engine before it sends it calls: the configuration goes before the engine's word. */
export function joined(engine: Engine): EngineJoined {
  const windowMax = engine.config.window ?? engine.load.windowMax;
  const capacityTokens = engine.config.capacityTokens ?? engine.load.capacityTokens;
  const contextTokensMax = engine.config.contextTokensMax ?? engine.load.contextTokensMax;
  return {
    type: 'engineJoined',
    engine: engine.id,
    models: [...engine.models.keys()].map(modelId),
    ...(windowMax !== undefined && { windowMax }),
    ...(capacityTokens !== undefined && { capacityTokens: tokens(capacityTokens) }),
    ...(contextTokensMax !== undefined && { contextTokensMax: tokens(contextTokensMax) }),
    ...(engine.state === 'probation' && { probation: true }),
  };
}

/** `undefined` when the scrape holds nothing that the scheduler reads. */
export function reported(engine: Engine, { waiting, kvUsage, preemptions }: LoadReport): EngineReported | undefined {
  if (waiting === undefined && kvUsage === undefined && preemptions === undefined) return undefined;
  return {
    type: 'engineReported',
    engine: engine.id,
    ...(waiting !== undefined && { waiting }),
    ...(kvUsage !== undefined && { kvUsage }),
    ...(preemptions !== undefined && { preemptions }),
  };
}
