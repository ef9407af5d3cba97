import { tokens, type EngineId, type TenantId, type Tokens } from '../src/index.js';
import type { RequestFacts } from './apis/index.js';
import { responseKey, type Context } from './context.js';
import { GatewayError } from './errors.js';

/**
 * Engine and prompt of a call that goes on from a response (`previous_response_id`): only the engine that made the response
 * holds it, and the prompt begins with its context. A response made elsewhere may be known to any engine.
 * @throws GatewayError `unknown_response` when the engine that held the response is gone.
 */
export function demandOf(
  context: Context,
  tenant: TenantId,
  facts: RequestFacts,
): { readonly engine?: EngineId; readonly promptTokens: Tokens } {
  const { model, previousResponseId } = facts;
  const promptTokens = context.tokens.estimate(model, facts.promptBytes);
  const held = previousResponseId && context.responses.get(responseKey(tenant, previousResponseId));
  if (!held) return { promptTokens };
  const engine = context.fleet.get(held.engine);
  if (engine === undefined) {
    throw new GatewayError('unknown_response', 'The engine that held the previous response is gone.', {
      param: 'previous_response_id',
    });
  }
  return {
    ...(engine.models.has(model) && { engine: held.engine }),
    promptTokens: tokens(held.contextTokens + promptTokens),
  };
}
