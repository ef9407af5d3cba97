import type { IncomingMessage, ServerResponse } from 'node:http';
import inject from 'light-my-request';
import { tenantId, type TenantId } from '../../src/index.js';
import type { Api } from '../apis/index.js';
import { acceptCall } from '../calls/accept.js';
import type { Context } from '../context.js';
import { asGatewayError, sendError } from '../http/answer.js';
import { settleRequestId } from '../http/headers.js';
import { setTimer } from '../timer.js';
import { Batches } from './batches.js';
import type { LineAnswer, LineRequest } from './run.js';

/** Refusals by the gateway itself for lack of room. */
const BUSY = new Set(['queue_full', 'overloaded', 'queue_timeout', 'no_engine', 'bodies_full']);

/** No tenant's own name has a slash. */
const ACCOUNT = '/batch';

/** The account of a tenant's batches: the tenant's other calls do not pay for them. */
const accountOf = (tenant: TenantId): TenantId => tenantId(`${tenant}${ACCOUNT}`);

/**
 * The gateway's batches, whose lines are calls like those of its clients. They start with `start`.
 * @param apis APIs that lines may ask, by their paths
 */
export async function openBatches(context: Context, apis: ReadonlyMap<string, Api>): Promise<Batches | undefined> {
  const { folder } = context.config.batches;
  if (folder === null) return undefined;
  const batches = await Batches.open(folder, {
    config: () => context.config.batches,
    urls: new Set(apis.keys()),
    ask: (tenant, request) => ask(context, apis, tenant, request),
    hasRoom: () => context.driver.waiting === 0,
    now: () => Date.now(),
    setTimer,
    log: context.log,
  });
  context.observers.add({
    refused: () => batches.wake(),
    dispatched: ({ tenant }) => (tenant.endsWith(ACCOUNT) ? batches.entered() : batches.wake()),
    ended: () => batches.wake(),
  });
  return batches;
}

/** Sends a line through the gateway as if it had come over a connection. */
async function ask(
  context: Context,
  apis: ReadonlyMap<string, Api>,
  tenant: TenantId,
  { id, url: path, body, headers }: LineRequest,
): Promise<LineAnswer | undefined> {
  const api = apis.get(path);
  if (api === undefined) throw new Error(`no API speaks ${path}`);
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // The simulated socket has nothing to send.
    Object.assign(request.socket, { writableLength: 0 });
    settleRequestId(request);
    try {
      await acceptCall(context, { api, path, tenant: accountOf(tenant), request, response });
    } catch (thrown) {
      const error = asGatewayError(thrown);
      if (error !== thrown) context.log.error({ err: thrown, request_id: id }, 'request failed');
      sendError(request, response, error, api);
    }
  };
  const answer = await inject(
    (request, response) => void take(request, response),
    { method: 'POST', url: path, payload: body, headers: { ...headers, 'content-type': 'application/json', 'x-request-id': id } }, // prettier-ignore
  );
  const { statusCode: status, rawPayload } = answer;
  const reason = String(answer.headers['x-maitred-reason'] ?? '');
  if (context.draining && reason === 'draining') return undefined;
  return { status, body: rawPayload, isBusy: BUSY.has(reason) || status === 429 || status === 503 };
}
