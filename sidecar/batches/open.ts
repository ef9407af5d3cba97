import type { IncomingMessage, ServerResponse } from 'node:http';
import inject from 'light-my-request';
import { tenantId, type TenantId } from '../../src/index.js';
import { SCHEDULED } from '../apis/index.js';
import { acceptCall, type Incoming } from '../calls/accept.js';
import type { Context } from '../context.js';
import { isServing } from '../engines/index.js';
import { asGatewayError, sendError } from '../http/answer.js';
import { settleRequestId } from '../http/headers.js';
import { setTimer } from '../timer.js';
import type { BatchPorts } from './batches.js';
import type { LineAnswer, LineRequest } from './run.js';
import { BatchSeat } from './seat.js';

/** Refusals by the gateway itself for lack of room. */
const BUSY = new Set(['queue_full', 'overloaded', 'queue_timeout', 'no_engine', 'bodies_full']);

/** No tenant's own name has a slash. */
const ACCOUNT = '/batch';

/** The account of a tenant's batches: the tenant's other calls do not pay for them. */
const accountOf = (tenant: TenantId): TenantId => tenantId(`${tenant}${ACCOUNT}`);

/** Name of the batches at the store of a cluster. */
const NAME = 'batches';

/** The batches of the configured folder, whose lines are calls like those of clients. They start with `start`. */
export async function openBatches(context: Context): Promise<BatchSeat | undefined> {
  const { batches, cluster: settings } = context.config;
  if (batches.folder === null) return undefined;
  const { cluster } = context;
  const { address, leaseMs, heartbeatMs } = settings;
  return BatchSeat.open({
    folder: batches.folder,
    ...(cluster !== undefined && {
      cluster: {
        hold: async (value, ms) => cluster.hold(NAME, value, ms),
        address: address ?? '',
        leaseMs,
        heartbeatMs,
      },
    }),
    batches: {
      config: () => context.config.batches,
      urls: new Set(SCHEDULED.keys()),
      ask: sender(context),
      engines: () =>
        context.fleet
          .list()
          .filter(isServing)
          .map(({ id }) => id),
      now: () => Date.now(),
      setTimer,
      log: context.log,
    },
    now: () => performance.now(),
    setTimer,
    log: context.log,
  });
}

/** Sends lines, and tells when an engine has them. A line that waits for one is given up when its batch ends. */
function sender(context: Context): BatchPorts['ask'] {
  context.observers.add({ dispatched: ({ line }) => line?.entered() });
  return async (tenant, line, { entered, engine, signal }, isBackground) => {
    let giveUp = (): void => undefined;
    const isGone = new Promise<undefined>((resolve) => (giveUp = () => resolve(undefined)));
    const left = (): void => {
      signal.removeEventListener('abort', giveUp);
      entered();
    };
    signal.addEventListener('abort', giveUp);
    return ask(context, tenant, line, { isBackground, engine, entered: left }, isGone).finally(left);
  };
}

/** Sends a line through the gateway as if it had come over a connection. @param isGone resolves when to give it up */
async function ask(
  context: Context,
  tenant: TenantId,
  { id, url: path, body, headers }: LineRequest,
  manner: NonNullable<Incoming['line']>,
  isGone: Promise<undefined>,
): Promise<LineAnswer | undefined> {
  const api = SCHEDULED.get(path);
  if (api === undefined) throw new Error(`no API speaks ${path}`);
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // The simulated socket has nothing to send.
    const socket = Object.assign(request.socket, { writableLength: 0 });
    void isGone.then(() => Object.assign(socket, { destroyed: true }).emit('close'));
    settleRequestId(request);
    try {
      await acceptCall(context, { api, path, tenant: accountOf(tenant), line: manner, request, response });
    } catch (thrown) {
      const error = asGatewayError(thrown);
      if (error !== thrown) context.log.error({ err: thrown, request_id: id }, 'request failed');
      sendError(request, response, error, api);
    }
  };
  const answer = await Promise.race([
    isGone,
    inject(
      (request, response) => void take(request, response),
      { method: 'POST', url: path, payload: body, headers: { ...headers, 'content-type': 'application/json', 'x-request-id': id } }, // prettier-ignore
    ),
  ]);
  if (answer === undefined) return undefined;
  const { statusCode: status, rawPayload } = answer;
  const reason = String(answer.headers['x-maitred-reason'] ?? '');
  if (context.draining && reason === 'draining') return undefined;
  return { status, body: rawPayload, isBusy: BUSY.has(reason) || status === 429 || status === 503 };
}
