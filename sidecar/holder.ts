import { modelId, tokens } from '../src/index.js';
import type { EngineId, Event, ModelId, TenantId, Tokens } from '../src/index.js';
import type { RequestFacts } from './apis/index.js';
import { responseKey, type Context } from './context.js';
import { GatewayError } from './errors.js';

/**
 * Calls that one engine alone can run: they go on from a response (`previous_response_id`) which only the engine that made
 * it holds.
 *
 * The scheduler keeps a call to the engines that serve its model, and that is all it takes: to it, each engine serves
 * its models under names of its own too, and such a call asks for one of these.
 */
const SEPARATOR = '\u0000';

const modelAt = (model: string, engine: EngineId): ModelId => modelId(model + SEPARATOR + engine);

/** The model without the engine that alone may run the call. */
export const modelName = (model: ModelId): string => model.split(SEPARATOR, 1)[0] ?? model;

/** Tells the scheduler of an engine's own names along with its models. */
export function withOwnNames(event: Event): Event {
  if (event.type !== 'engineJoined') return event;
  const { models, engine } = event;
  return { ...event, models: [...models, ...models.map((model) => modelAt(model, engine))] };
}

/**
 * What the scheduler is told of the call's model and prompt, which begins with what the response before it holds. A response
 * that nobody here made may be known to any engine.
 * @throws GatewayError `unknown_response` when the engine that held the response is gone.
 */
export function demandOf(
  context: Context,
  tenant: TenantId,
  facts: RequestFacts,
): { readonly model: ModelId; readonly promptTokens: Tokens } {
  const { model, previousResponseId } = facts;
  const promptTokens = context.tokens.estimate(model, facts.promptBytes);
  const held = previousResponseId && context.responses.get(responseKey(tenant, previousResponseId));
  if (!held) return { model: modelId(model), promptTokens };
  const engine = context.fleet.get(held.engine);
  if (engine === undefined) {
    throw new GatewayError('unknown_response', 'The engine that held the previous response is gone.', {
      param: 'previous_response_id',
    });
  }
  return {
    model: engine.models.has(model) ? modelAt(model, held.engine) : modelId(model),
    promptTokens: tokens(held.contextTokens + promptTokens),
  };
}
