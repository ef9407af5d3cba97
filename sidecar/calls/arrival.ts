import { modelId, tokens, type CallArrived } from '../../src/index.js';
import { objectiveOf, type Config } from '../config/index.js';
import type { CallSpec } from './spec.js';

export function arrivalOf(spec: CallSpec, { objectives }: Pick<Config, 'objectives'>): CallArrived {
  const { id, tenant, identity, facts, engine, promptTokens, remaining, family, isRetry } = spec;
  const waitMsMax = objectiveOf(objectives, spec);
  return {
    type: 'callArrived',
    call: id,
    program: identity.program,
    tenant,
    thread: identity.thread,
    model: modelId(facts.model),
    ...(engine !== undefined && { engine, ...(spec.mayMove && { mayMove: true }) }),
    promptTokens,
    ...(facts.maxTokens !== undefined && { maxTokens: tokens(facts.maxTokens) }),
    ...(remaining !== undefined && { remaining }),
    request: spec.fingerprint,
    ...(facts.stream && { patient: true }),
    ...(spec.isBackground && { background: true }),
    ...(waitMsMax !== undefined && { waitMsMax }),
    ...(isRetry && { retry: true }),
    ...(family !== undefined && { family }),
    ...(spec.elsewhere !== undefined && { elsewhere: spec.elsewhere }),
  };
}
