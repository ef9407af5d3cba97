import { batchHandlers } from './batches/handlers.js';
import { acceptCall } from './calls/accept.js';
import { apiFor, type Api } from './apis/index.js';
import { checkNotDraining, type Context } from './context.js';
import { checkNoUpgrade, type Handler, type Routes } from './http/listener.js';
import { ENGINE_PATHS, matcherOf, passableTarget, plainTarget } from './unscheduled/passable.js';
import { listModels, showModel } from './unscheduled/models.js';
import { passCheap, passThrough, passToOwner } from './unscheduled/passthrough.js';
import { releaseProgram } from './admin/programs.js';
import { workflowHandlers, type TenantHandler } from './workflows/handlers.js';

/** Paths whose `POST` is a scheduled call of a program. */
const SCHEDULED = ['/v1/chat/completions', '/v1/completions', '/v1/responses', '/v1/messages', '/v1/embeddings'];

const COUNT_TOKENS = '/v1/messages/count_tokens';

/** The API of a path. A passed-through path gets the API of its family, whose errors its clients can read. */
export function familyOf(path: string): Api {
  return apiFor(path) ?? required(path.startsWith('/v1/messages') ? '/v1/messages' : '/v1/chat/completions');
}

/** The APIs of scheduled calls, by their paths. */
export const scheduledApis = (): ReadonlyMap<string, Api> => new Map(SCHEDULED.map((path) => [path, required(path)]));

/** Paths for clients. Each checks the API key first, if keys are configured. */
export function clientRoutes(context: Context): Routes {
  const client =
    (handler: TenantHandler): Handler =>
    (request, response, params) => {
      checkNotDraining(context);
      return handler(context.auth.tenantOf(request), request, response, params);
    };
  const responses = required('/v1/responses');
  const owner = client((tenant, request, response, params) => {
    request.url = plainTarget(request.url ?? '');
    return passToOwner(context, responses, tenant, params['id'] ?? '', request, response);
  });
  const routes: Record<string, Routes[string]> = {
    [COUNT_TOKENS]: {
      POST: client((tenant, request, response) =>
        passCheap(context, required(COUNT_TOKENS), COUNT_TOKENS, tenant, request, response),
      ),
    },
    '/v1/responses/:id': { GET: owner, DELETE: owner },
    '/v1/responses/:id/cancel': { POST: owner },
    '/v1/responses/:id/*': { GET: owner },
    '/v1/models': { GET: client((_, request, response) => listModels(context, request, response)) },
    // A model's id may contain slashes.
    '/v1/models/*': {
      GET: client((_, request, response, params) => showModel(context, params['*'] ?? '', request, response)),
    },
    '/programs/release': {
      POST: client((tenant, request, response) => releaseProgram(context, 'program_id', tenant, request, response)),
    },
    '/finish_session': {
      POST: client((tenant, request, response) => releaseProgram(context, 'session_id', tenant, request, response)),
    },
  };
  const { batches } = context;
  const files = batches && batchHandlers({ config: () => context.config }, batches, new Set(SCHEDULED));
  for (const [path, handlers] of Object.entries({ ...workflowHandlers(context), ...files })) {
    routes[path] = Object.fromEntries(Object.entries(handlers).map(([method, handler]) => [method, client(handler)]));
  }
  for (const path of SCHEDULED) {
    const api = required(path);
    routes[path] = {
      POST: client((tenant, request, response) => acceptCall(context, { api, path, tenant, request, response })),
    };
  }
  const isOwn = matcherOf(Object.keys(routes), 'i');
  const through = client((tenant, request, response) => {
    checkNoUpgrade(request);
    request.url = passableTarget(request.url ?? '', isOwn, context.config.passthrough.paths);
    return passThrough(context, familyOf(request.url), tenant, request, response);
  });
  for (const path of ['/v1/*', ...ENGINE_PATHS]) routes[path] = { ALL: through };
  return routes;
}

function required(path: string): Api {
  const api = apiFor(path);
  if (api === undefined) throw new Error(`no API speaks ${path}`);
  return api;
}
