import { modelId, tokens, type EngineId, type EngineJoined, type EngineReported } from '../../src/index.js';
import type { EngineConfig } from '../config/index.js';
import type { LoadReport } from './adapter.js';
import type { EngineState } from './engine.js';

interface Announced {
  readonly id: EngineId;
  readonly config: EngineConfig;
  readonly load: LoadReport;
  readonly models: ReadonlyMap<string, unknown>;
  readonly state: EngineState;
}

/**
 * Facts that the scheduler needs about an engine before it sends calls. The configuration overrides the engine's
 * reports.
 */
export function joined({ id, config, load, models, state }: Announced): EngineJoined {
  const windowMax = config.window ?? load.windowMax;
  const capacityTokens = config.capacityTokens ?? load.capacityTokens;
  const hostTokens = config.hostTokens ?? load.hostTokens;
  const hostTokensPerSecond = config.hostTokensPerSecond ?? load.hostTokensPerSecond;
  const contextTokensMax = config.contextTokensMax ?? load.contextTokensMax;
  return {
    type: 'engineJoined',
    engine: id,
    models: [...models.keys()].map(modelId),
    ...(windowMax !== undefined && { windowMax }),
    ...(capacityTokens !== undefined && { capacityTokens: tokens(capacityTokens) }),
    ...(hostTokens !== undefined && { hostTokens: tokens(hostTokens) }),
    ...(hostTokensPerSecond !== undefined && { hostTokensPerSecond }),
    ...(contextTokensMax !== undefined && { contextTokensMax: tokens(contextTokensMax) }),
    ...(state === 'probation' && { probation: true }),
  };
}

/** Load report for the scheduler; `undefined` if the scrape holds nothing relevant. */
export function reported({ id }: Announced, { waiting, kvUsage, preemptions }: LoadReport): EngineReported | undefined {
  if (waiting === undefined && kvUsage === undefined && preemptions === undefined) return undefined;
  return {
    type: 'engineReported',
    engine: id,
    ...(waiting !== undefined && { waiting }),
    ...(kvUsage !== undefined && { kvUsage }),
    ...(preemptions !== undefined && { preemptions }),
  };
}
