import { tokens, type EngineId, type TenantId, type Tokens } from '../src/index.js';
import type { RequestFacts } from './apis/index.js';
import type { Context } from './context.js';
import { GatewayError } from './errors.js';

/**
 * Engine and prompt of a call that goes on from a response (`previous_response_id`): only the engine that made the response
 * holds it, and the prompt begins with its context. A response that nobody made here may be known to any engine.
 * @throws GatewayError `unknown_response` when another tenant's response is meant, or its engine is gone.
 */
export function demandOf(
  context: Context,
  tenant: TenantId,
  facts: RequestFacts,
): { readonly engine?: EngineId; readonly promptTokens: Tokens } {
  const { model, previousResponseId } = facts;
  const promptTokens = context.tokens.estimate(model, facts.promptBytes);
  if (previousResponseId === undefined) return { promptTokens };
  if (context.responses.isForeign(tenant, previousResponseId))
    throw unknown('No engine here has made such a response.');
  const held = context.responses.get(tenant, previousResponseId);
  if (held === undefined) return { promptTokens };
  const engine = context.fleet.get(held.engine);
  if (engine === undefined) throw unknown('The engine that held the previous response is gone.');
  return {
    ...(engine.models.has(model) && { engine: held.engine }),
    promptTokens: tokens(held.contextTokens + promptTokens),
  };
}

function unknown(message: string): GatewayError {
  return new GatewayError('unknown_response', message, { param: 'previous_response_id' });
}
