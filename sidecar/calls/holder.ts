import { tokens, type TenantId } from '../../src/index.js';
import type { RequestFacts } from '../apis/index.js';
import type { Context } from '../context.js';
import { GatewayError } from '../errors.js';

/**
 * Engine and prompt of a call that continues a response (`previous_response_id`). Only the engine that made the
 * response holds it, and the prompt begins with its context. Any engine may know a response older than the gateway's
 * memory. Engines do not know tenants, so it is forwarded only if it can be nobody else's.
 * @throws GatewayError `unknown_response` if the response may be another tenant's, or its engine is gone
 */
export function demandOf(context: Context, tenant: TenantId, facts: RequestFacts) {
  const { model, previousResponseId } = facts;
  const promptTokens = context.tokens.estimate(model, facts.promptBytes);
  if (previousResponseId === undefined) return { promptTokens };
  const held = context.responses.get(tenant, previousResponseId);
  if (held === undefined) {
    if (context.auth.hasTenants) throw unknown('No engine here has made such a response.');
    return { promptTokens };
  }
  const engine = context.fleet.get(held.engine);
  if (engine === undefined) throw unknown('The engine that held the previous response is gone.');
  return {
    ...(engine.models.has(model) && { engine: held.engine }),
    promptTokens: tokens(held.contextTokens + promptTokens),
  };
}

const unknown = (message: string): GatewayError =>
  new GatewayError('unknown_response', message, { param: 'previous_response_id' });
