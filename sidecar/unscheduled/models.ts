import type { ServerResponse } from 'node:http';
import type { JsonObject } from '../apis/index.js';
import { redacted } from '../calls/refusal.js';
import { didYouMean } from '../config/index.js';
import type { Context } from '../context.js';
import { configuredModels, type Fleet } from '../engines/index.js';
import { GatewayError } from '../errors.js';
import { sendJson } from '../http/answer.js';

/** Models, and engines with their troubles, that an error names. */
const NAMED_MAX = 8;
const TROUBLES_MAX = 3;
/** Models that a wrong name is compared with: each takes microseconds, and clients ask again. */
const COMPARED_MAX = 100;

/** The error of a call that no engine serves and that cannot wait. */
export function unserved(context: Context, model: string): GatewayError {
  const { fleet } = context;
  const isKnown = fleet.awaited.has(model) || fleet.list().every((engine) => engine.models.size === 0);
  return isKnown ? noEngine(fleet) : unknownModel(context, model);
}

function unknownModel(context: Context, model: string): GatewayError {
  const known = [...mergedModels(context).keys()];
  const more = known.length > NAMED_MAX ? ` and ${known.length - NAMED_MAX} more` : '';
  const there = known.length === 0 ? '' : ` There are: ${known.slice(0, NAMED_MAX).join(', ')}${more}.`;
  const asked = model.slice(0, 200);
  const text = `No engine serves the model ${JSON.stringify(asked)}${didYouMean(asked, known.slice(0, COMPARED_MAX)) || '.'}${there}`;
  return new GatewayError('unknown_model', text, { param: 'model' });
}

/** Names the cause without addresses. Ids of engines are in answers' headers too. */
export function noEngine(fleet: Pick<Fleet, 'list'>): GatewayError {
  const engines = fleet.list();
  const troubles = engines.flatMap(({ id, state, trouble }) =>
    state === 'draining' ? [`${id}: drained`] : trouble === undefined ? [] : [`${id}: ${redacted(trouble.reason)}`],
  );
  const more = troubles.length > TROUBLES_MAX ? [`and ${troubles.length - TROUBLES_MAX} more`] : [];
  const why = engines.length === 0 ? 'there is none' : [...troubles.slice(0, TROUBLES_MAX), ...more].join('; ');
  return new GatewayError('no_engine', `No engine is ready${why === '' ? '' : ` (${why})`}.`);
}

/** Every model of every engine once, in the engines' order; the first engine's entry represents the model. */
function mergedModels(context: Context): Map<string, JsonObject> {
  const merged = new Map<string, JsonObject>();
  const { fleet } = context;
  const all = [...fleet.list().map(({ models }) => models), configuredModels([...fleet.awaited])];
  for (const [id, entry] of all.flatMap((models) => [...models])) if (!merged.has(id)) merged.set(id, entry);
  return merged;
}

/** `GET /v1/models` */
export function listModels(context: Context, response: ServerResponse): void {
  const data = [...mergedModels(context).values()];
  const headers = { 'x-maitred-policy': context.driver.views.policyName };
  sendJson(response, 200, 'merged', { object: 'list', data }, headers);
}

/** `GET /v1/models/{id}` @throws GatewayError `unknown_model` */
export function showModel(context: Context, id: string, response: ServerResponse): void {
  const entry = mergedModels(context).get(id);
  if (entry === undefined) throw unknownModel(context, id);
  sendJson(response, 200, 'merged', entry);
}
