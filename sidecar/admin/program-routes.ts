import type { IncomingMessage } from 'node:http';
import { programId } from '../../src/index.js';
import type { Parts } from '../context.js';
import { GatewayError } from '../errors.js';
import { sendJson } from '../http/answer.js';
import { readJsonBody } from '../http/body.js';
import { fieldsOf } from '../http/headers.js';
import type { Admitted, Routes } from '../http/listener.js';
import { cleanId, labelOf } from '../identity/names.js';
import { count } from './figures.js';
import { cancelAnywhere, endEverywhere, wherever } from './peers.js';
import { isBatchId, keyOf, unknownProgram } from './programs.js';
import { queryOf, tenantIn } from './query.js';
import { leftInWords } from './run-words.js';

/** The end of programs: operators may end those of any tenant, and cancel batches; clients only their own. @param asAdmin whether this listener serves operators */
export function programRoutes(context: Parts, asAdmin: boolean): Routes {
  const endAsOperator = async (request: IncomingMessage, id: string): Promise<object> => {
    context.auth.checkAdmin(request.headers);
    const text = isBatchId(id) ? await cancelAnywhere(context, id) : '';
    if (text !== '') return { text };
    const { key, tenant, active, active_calls: calls } = await wherever(context, 'program', id, tenantIn(request));
    const by = isOperator(context, request) ? 'operator' : undefined;
    if (!(await endEverywhere(context, programId(key), by))) throw unknownProgram(id);
    if (calls === 0) return { tenant };
    const more = calls > active.length ? `, and ${count(calls - active.length)} later ones` : '';
    return { tenant, text: `${id} ends with its last call: ${leftInWords(active)}${more}.` };
  };
  const endAsClient = async (request: IncomingMessage, id: string): Promise<object> => {
    const tenant = context.auth.tenantOf(request);
    const program = keyOf(context, id, tenant);
    if (program === undefined || !(await endEverywhere(context, program)))
      throw unknownProgram(id, isBatchId(id) ? ` A batch is cancelled by POST /v1/batches/${id}/cancel.` : '');
    return { tenant };
  };
  return {
    '/programs/:id/end': {
      POST: async (request, response, { id = '' }) => {
        const end = asAdmin && !hasClientKey(context, request) ? endAsOperator : endAsClient;
        sendJson(response, 200, 'ended', { ended: true, id, ...(await end(request, id)) });
        if (end === endAsOperator && isOperator(context, request)) logChange(context, request);
      },
    },
  };
}

/** Tells the log of a request by which an operator has changed something, for whoever asks later. */
export const logChange = ({ log }: Parts, request: IncomingMessage): void =>
  log.info(fieldsOf(request), 'changed by an operator');

/** Clients without keys may come as operators do: `maitred end` and the page say who they are. */
const isOperator = ({ config }: Parts, request: IncomingMessage): boolean =>
  config.auth.keys.length > 0 || config.admin.port !== null || queryOf(request).get('by') === 'operator';

/** Whether the request carries an API key. Without configured keys, all callers share one tenant. */
const hasClientKey = ({ config, auth }: Parts, request: IncomingMessage): boolean =>
  config.auth.keys.length > 0 && auth.tenantIfAny(request) !== undefined;

/**
 * Ends a program as clients of ThunderAgent (`POST /programs/release`) and the vLLM router (`POST /finish_session`) do. An
 * unknown program does no harm. @throws GatewayError `invalid_body`
 */
export async function releaseProgram(
  context: Parts,
  field: 'program_id' | 'session_id',
  { tenant, request, response }: Admitted,
): Promise<void> {
  const body = await readJsonBody(request, response, context.config.timeouts.bodyMs);
  const program = context.identifier.named(tenant, body[field]);
  if (program === undefined) throw new GatewayError('invalid_body', `${field} must name a program.`, { param: field });
  // The end of a sub-agent's own session does not end its root.
  const isRoot = labelOf(program) === cleanId(body[field]);
  const released = isRoot && (await endEverywhere(context, program));
  sendJson(response, 200, 'ended', { [field]: body[field], released });
}
