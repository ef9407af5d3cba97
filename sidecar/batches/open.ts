import { IncomingMessage, ServerResponse, type OutgoingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { tenantId, type TenantId } from '../../src/index.js';
import { endProgram, rowsHere } from '../admin/programs.js';
import { SCHEDULED, type Api } from '../apis/index.js';
import { acceptCall } from '../calls/accept.js';
import type { Context } from '../context.js';
import { isServing } from '../engines/index.js';
import { asGatewayError, sendError } from '../http/answer.js';
import { settleRequestId } from '../http/headers.js';
import { labelOf } from '../identity/names.js';
import { setTimer } from '../timer.js';
import { unserved } from '../unscheduled/models.js';
import type { BatchPorts } from './batches.js';
import { BatchSeat } from './seat.js';

/** Refusals by the gateway itself for lack of room. */
const BUSY = new Set(['queue_full', 'overloaded', 'queue_timeout', 'no_engine', 'bodies_full']);

/** The account of a tenant's batches: its other calls do not pay for them. No tenant's own name has a slash. */
const accountOf = (tenant: TenantId): TenantId => tenantId(`${tenant}/batch`);

/** The batches of the configured folder, whose lines are calls like those of clients. They start with `start`. */
export async function openBatches(context: Context): Promise<BatchSeat | undefined> {
  const { cluster, config } = context;
  const { folder } = config.batches;
  if (folder === null) return undefined;
  return BatchSeat.open({
    folder,
    cluster: cluster && { ...config.cluster, store: cluster.shared },
    batches: {
      config: () => context.config.batches,
      ask: sender(context),
      unserved: (model) => {
        const { fleet } = context;
        if (fleet.serving(model).length > 0 || fleet.awaited.has(model)) return undefined;
        return `${unserved(context, model).message} ${mayGrow(context) ? 'Its lines are asked again for a while, as one may come up.' : 'Its lines fail.'}`;
      },
      ended: (tenant, id) => endPrograms(context, tenant, id),
      engines: () => context.fleet.list().flatMap((engine) => (isServing(engine) ? engine.id : [])),
      now: () => Date.now(),
      setTimer,
      log: context.log,
    },
    now: () => performance.now(),
    setTimer,
  });
}

/** Ends what is left of a batch's programs: those whose last line was not asked, as it was a copy or left out. */
function endPrograms(context: Context, tenant: TenantId, batch: string): void {
  const rows = [...rowsHere(context)].filter((row) => row.tenant === accountOf(tenant));
  for (const { id } of rows) if (labelOf(id).startsWith(`${batch}.`)) endProgram(context, id);
}

/** Whether engines may yet list further models: some have not been reached, or others may be found. */
const mayGrow = ({ config, fleet }: Context): boolean =>
  config.discovery.length > 0 || fleet.list().some(({ models }) => models.size === 0);

/** Sends lines as if they had come over a connection. One that waits for an engine is given up when its batch ends. */
function sender(context: Context): BatchPorts['ask'] {
  context.observers.add({
    dispatched: ({ line }) => line?.waits(false),
    engineFailed: ({ line }) => line?.waits(true),
  });
  return (tenant, { id, url: path, body, headers, engine, isLate, waits, signal }) =>
    new Promise((resolve) => {
      // A line's path is one of these.
      const api = SCHEDULED.get(path) as Api;
      const socket = new Socket();
      const giveUp = (): void => void socket.destroy();
      const changed = (isWaiting: boolean): void => {
        if (!isWaiting) signal.removeEventListener('abort', giveUp);
        else if (signal.aborted) giveUp();
        else signal.addEventListener('abort', giveUp);
        waits(isWaiting);
      };
      changed(true);
      socket.once('close', () => resolve(undefined));
      const request = new IncomingMessage(socket);
      const given = { 'content-type': 'application/json', 'content-length': `${body.length}`, 'x-request-id': id };
      Object.assign(request, { method: 'POST', url: path, headers: { ...headers, ...given }, complete: true });
      request.push(body);
      request.push(null);
      settleRequestId(request);
      const response = new LineResponse(request, (status, reason, bytes) => {
        changed(false);
        const isLeft = context.draining && reason === 'draining';
        const isBusy = BUSY.has(reason) || status === 429 || status === 503;
        resolve(
          isLeft ? undefined : { status, body: bytes, isBusy, mayCome: reason === 'unknown_model' && mayGrow(context) },
        );
      });
      const call = {
        api,
        path,
        tenant: accountOf(tenant),
        line: { isBackground: !isLate, engine, waits: changed },
        request,
        response,
      };
      acceptCall(context, call).catch((thrown: unknown) => {
        const error = asGatewayError(thrown);
        if (error !== thrown) context.log.error({ err: thrown, request_id: id }, 'request failed');
        sendError(response, error, api);
      });
    });
}

/** An answer that is kept instead of sent. */
class LineResponse extends ServerResponse {
  readonly #parts: Buffer[] = [];
  #reason = '';

  constructor(
    request: IncomingMessage,
    private readonly answered: (status: number, reason: string, body: Buffer) => void,
  ) {
    super(request);
  }

  override writeHead(status: number, headers?: unknown): this {
    this.statusCode = status;
    this.#reason = String((headers as OutgoingHttpHeaders)['x-maitred-reason'] ?? '');
    return this;
  }

  override write(chunk: string | Buffer): boolean {
    this.#parts.push(Buffer.from(chunk));
    return true;
  }

  override end(chunk?: unknown): this {
    if (chunk !== undefined) this.write(chunk as string | Buffer);
    this.answered(this.statusCode, this.#reason, Buffer.concat(this.#parts));
    return this;
  }
}
