import { releaseProgram } from './admin/program-routes.js';
import { batchHandlers } from './batches/handlers.js';
import { acceptCall } from './calls/accept.js';
import { COUNT_TOKENS, countTokens, familyOf, responses, SCHEDULED } from './apis/index.js';
import type { Context } from './context.js';
import { checkNoUpgrade, type Handler, type Routes, type TenantHandler } from './http/listener.js';
import { ENGINE_PATHS, matcherOf, passableTarget, plainTarget } from './unscheduled/passable.js';
import { listModels, showModel } from './unscheduled/models.js';
import { passCheap, passThrough, passToOwner } from './unscheduled/passthrough.js';

/** Paths for clients. Each checks the API key first, if keys are configured, and then waits for `ready`. */
export function clientRoutes(context: Context, ready: Promise<void>): Routes {
  let isReady = false;
  void ready.then(() => (isReady = true));
  const client =
    (handler: TenantHandler): Handler =>
    (request, response, params) => {
      context.checkNotDraining();
      const tenant = context.auth.tenantOf(request);
      const run = () => handler({ tenant, request, response }, params);
      // At once if possible: a body that comes before its reader makes a detour through the stream's buffer.
      return isReady ? run() : ready.then(run);
    };
  const owner = client((admitted, { id = '' }) => {
    const { request } = admitted;
    request.url = plainTarget(request.url ?? '');
    return passToOwner(context, { api: responses, ...admitted }, id);
  });
  const routes: Record<string, Routes[string]> = {
    [COUNT_TOKENS]: {
      POST: client((admitted) => passCheap(context, { api: countTokens, ...admitted }, COUNT_TOKENS)),
    },
    '/v1/responses/:id': { GET: owner, DELETE: owner },
    '/v1/responses/:id/cancel': { POST: owner },
    '/v1/responses/:id/*': { GET: owner },
    '/v1/models': { GET: client(({ response }) => listModels(context, response)) },
    // A model's id may contain slashes.
    '/v1/models/*': {
      GET: client(({ response }, params) => showModel(context, params['*'] ?? '', response)),
    },
    '/programs/release': { POST: client((admitted) => releaseProgram(context, 'program_id', admitted)) },
    '/finish_session': { POST: client((admitted) => releaseProgram(context, 'session_id', admitted)) },
  };
  const { batches } = context;
  const files = batches && batchHandlers(() => context.config, batches);
  for (const [path, handlers] of Object.entries(files ?? {}))
    routes[path] = Object.fromEntries(Object.entries(handlers).map(([method, handler]) => [method, client(handler)]));
  for (const [path, api] of SCHEDULED)
    routes[path] = { POST: client((admitted) => acceptCall(context, { api, path, ...admitted })) };
  const own = Object.keys(routes);
  const isOwn = matcherOf(own, 'i');
  const through = client((admitted) => {
    const { request } = admitted;
    checkNoUpgrade(request);
    request.url = passableTarget(request.url ?? '', isOwn, own, context.config.passthrough.paths);
    return passThrough(context, { api: familyOf(request.url), ...admitted });
  });
  for (const path of ['/v1/*', ...ENGINE_PATHS]) routes[path] = { ALL: through };
  return routes;
}
