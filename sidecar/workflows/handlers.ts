import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TenantId } from '../../src/index.js';
import type { Context } from '../context.js';
import { sendJson } from '../http/answer.js';
import { readJsonBody } from '../http/body.js';
import type { Params } from '../http/listener.js';
import { rounded } from './analysis.js';
import type { Registered } from './registry.js';

/** Largest workflow, as JSON. */
const BYTES_MAX = 65_536;

/** The parts of the gateway that this file uses. */
type Parts = Pick<Context, 'config' | 'workflows'>;

export type TenantHandler = (
  tenant: TenantId,
  request: IncomingMessage,
  response: ServerResponse,
  params: Params,
) => void | Promise<void>;

/** `/v1/workflows`: a tenant's own workflows, registered, listed, read and removed. */
export function workflowHandlers(
  context: Parts,
): Readonly<Record<string, Readonly<Partial<Record<'GET' | 'POST' | 'DELETE', TenantHandler>>>>> {
  const { workflows } = context;
  const answer =
    (read: (tenant: TenantId, name: string) => unknown): TenantHandler =>
    (tenant, request, response, { name = '' }) =>
      sendJson(request, response, 200, 'workflow', read(tenant, name));
  return {
    '/v1/workflows': {
      GET: answer((tenant) => ({ workflows: workflows.list(tenant).map(summary) })),
      POST: async (tenant, request, response) => {
        const { bodyMs } = context.config.timeouts;
        const { body } = await readJsonBody(request, response, bodyMs, BYTES_MAX);
        sendJson(request, response, 200, 'workflow', withRest(workflows.register(tenant, body)));
      },
    },
    '/v1/workflows/:name': {
      GET: answer((tenant, name) => {
        const found = workflows.get(tenant, name);
        return { ...withRest(found), workflow: found.workflow };
      }),
      DELETE: answer((tenant, name) => {
        workflows.remove(tenant, name);
        return { name, removed: true };
      }),
    },
  };
}

const summary = ({ workflow: { name, nodes }, version }: Registered) => ({ name, version, nodes: nodes.length });

const withRest = ({ workflow: { name }, version, rest }: Registered) => ({
  name,
  version,
  rest: [...rest.values()].map(rounded),
});
