import type { IncomingMessage, ServerResponse } from 'node:http';
import { programId, tenantId, type ProgramId, type TenantId } from '../../src/index.js';
import type { Parts } from '../context.js';
import { GatewayError } from '../errors.js';
import { sendJson } from '../http/answer.js';
import { readJsonBody } from '../http/body.js';
import type { Routes } from '../http/listener.js';
import { cleanId, labelOf } from '../identity/names.js';
import { endEverywhere, wherever } from './peers.js';
import { keyOf, unknownProgram } from './programs.js';
import { tenantIn } from './query.js';

/**
 * `POST /programs/{id}/end`. Operators may do so to any tenant's program, by `?tenant=` or by its key;
 * clients only to their own.
 * @param asAdmin whether this listener serves operators
 */
export function programRoutes(context: Parts, asAdmin: boolean): Routes {
  const find = async (request: IncomingMessage, id: string): Promise<readonly [ProgramId | undefined, TenantId]> => {
    if (asAdmin && !hasClientKey(context, request)) {
      context.auth.checkAdmin(request.headers);
      const { key, tenant } = await wherever(context, 'program', id, tenantIn(request));
      return [programId(key), tenantId(tenant)];
    }
    const tenant = context.auth.tenantOf(request);
    return [keyOf(context, id, tenant), tenant];
  };
  return {
    '/programs/:id/end': {
      POST: async (request, response, { id = '' }) => {
        const [program, tenant] = await find(request, id);
        if (program === undefined || !(await endEverywhere(context, program))) throw unknownProgram(id);
        sendJson(request, response, 200, 'ended', { ended: true, id, tenant });
      },
    },
  };
}

/** Whether the request carries an API key. Without configured keys, all callers share one tenant. */
function hasClientKey(context: Parts, request: IncomingMessage): boolean {
  if (context.config.auth.keys.length === 0) return false;
  try {
    context.auth.tenantOf(request);
    return true;
  } catch {
    return false;
  }
}

/**
 * Ends a program as clients of other schedulers request it: ThunderAgent's `POST /programs/release {program_id}` and
 * the vLLM router's `POST /finish_session {session_id}`. A repeated request, or an unknown program, does no harm.
 * @throws GatewayError `invalid_body`
 */
export async function releaseProgram(
  context: Parts,
  field: 'program_id' | 'session_id',
  tenant: TenantId,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readJsonBody(request, response, context.config.timeouts.bodyMs);
  const program = context.identifier.named(tenant, body[field]);
  if (program === undefined) throw new GatewayError('invalid_body', `${field} must name a program.`, { param: field });
  // The end of a sub-agent's own session does not end its root.
  const isRoot = labelOf(program) === cleanId(body[field]);
  const released = isRoot && (await endEverywhere(context, program));
  sendJson(request, response, 200, 'ended', { [field]: body[field], released });
}
