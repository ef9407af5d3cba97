import { modelId, tokens, type EngineJoined, type EngineReported } from '../../src/index.js';
import type { LoadReport } from './adapter.js';
import type { Engine } from './engine.js';

/**
 * Facts that the scheduler needs about an engine before it sends calls. The configuration overrides the engine's
 * reports.
 */
export function joined(engine: Engine): EngineJoined {
  const { config, load } = engine;
  const windowMax = config.window ?? load.windowMax;
  const capacityTokens = config.capacityTokens ?? load.capacityTokens;
  const hostTokens = config.hostTokens ?? load.hostTokens;
  const hostTokensPerSecond = config.hostTokensPerSecond ?? load.hostTokensPerSecond;
  const contextTokensMax = config.contextTokensMax ?? load.contextTokensMax;
  return {
    type: 'engineJoined',
    engine: engine.id,
    models: [...engine.models.keys()].map(modelId),
    ...(windowMax !== undefined && { windowMax }),
    ...(capacityTokens !== undefined && { capacityTokens: tokens(capacityTokens) }),
    ...(hostTokens !== undefined && { hostTokens: tokens(hostTokens) }),
    ...(hostTokensPerSecond !== undefined && { hostTokensPerSecond }),
    ...(contextTokensMax !== undefined && { contextTokensMax: tokens(contextTokensMax) }),
    ...(engine.state === 'probation' && { probation: true }),
  };
}

/** Load report for the scheduler; `undefined` if the scrape holds nothing relevant. */
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
