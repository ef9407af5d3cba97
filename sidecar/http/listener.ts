import findMyWay from 'find-my-way';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Socket, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { TenantId } from '../../src/index.js';
import { familyOf } from '../apis/index.js';
import type { Config } from '../config/index.js';
import { GatewayError } from '../errors.js';
import { asGatewayError, sendError } from './answer.js';
import { answerBrokenRequest, noteRequest } from './broken.js';
import { settleRequestId } from './headers.js';
import { checkEncoding, originForm, splitTarget } from './target.js';

export type Params = Readonly<Record<string, string | undefined>>;
export type Handler = (request: IncomingMessage, response: ServerResponse, params: Params) => void | Promise<void>;
/** A client's request, which its key has let in. */
export interface Admitted {
  readonly tenant: TenantId;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}
export type TenantHandler = (admitted: Admitted, params: Params) => void | Promise<void>;
/** Largest block of request headers: twice Node's default. */
const HEADER_BYTES_MAX = 32_768;

/** Handlers of one path by method; `ALL` takes all other methods. Without `ALL`, they are answered 405. */
export type Handlers = Readonly<Partial<Record<'GET' | 'POST' | 'DELETE' | 'ALL', Handler>>>;
/** Handlers by path, in the router's notation. */
export type Routes = Readonly<Record<string, Handlers>>;

/** Hears that a request was refused before it became a call. @param cause present if the fault is ours */
type Refused = (error: GatewayError, request: IncomingMessage | undefined, cause?: unknown) => void;

export type Listener = Readonly<Awaited<ReturnType<typeof listen>>>;

/** Longer than the idle timeout of usual load balancers (60 s), so that they close first. */
const KEEP_ALIVE_MS = 75_000;
/** Connections that may wait to be accepted: a fleet of agents opens more at once than Node's default of 511. */
const BACKLOG = 4096;
/** As long as the longest path within the header limit, so that no request fails for the length of an id. */
const PARAM_LENGTH_MAX = 1_048_576;

/** Finds the handlers of a request target. @throws GatewayError `unknown_path` */
type Find = (target: string) => { readonly handlers: Handlers; readonly params: Params };

/**
 * Listens, and routes each request to its handler. Handlers use raw streams: an answer may begin long before its end is
 * known, and bytes must pass unchanged. Errors of handlers become answers here, and every answer has its request id.
 * @throws Error if the address cannot be listened on
 */
export async function listen(
  config: Config,
  { host, port }: { readonly host: string; readonly port: number },
  routes: Routes,
  refused: Refused,
) {
  const slashes = { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true };
  const router = findMyWay({ ...slashes, maxParamLength: PARAM_LENGTH_MAX });
  // One entry for all methods: a path's own handlers tell those that it lacks.
  for (const [path, handlers] of Object.entries(routes)) router.on('GET', path, () => undefined, handlers);
  // The paths of nearly all requests, of which the router need not look at each character.
  const plain = new Map(Object.entries(routes).filter(([path]) => !/[:*]/.test(path)));
  const find: Find = (target) => {
    const handlers = plain.get(target);
    if (handlers !== undefined) return { handlers, params: {} };
    const found = router.find('GET', target);
    if (found !== null) return { handlers: found.store as Handlers, params: found.params };
    const { path } = splitTarget(target);
    throw unknownPath(`/v1${path}` in routes ? ` A base URL ends in /v1: is it /v1${path}?` : '');
  };
  const server = makeServer(config, find, refused);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // The name may mean ::1 alone, where clients of 127.0.0.1 would find nothing.
  server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port, backlog: BACKLOG });
  await once(server, 'listening');
  return {
    /** `http://host:port`, as this machine reaches it. */
    url: urlAt(host, (server.address() as AddressInfo).port),
    configure: (changed: Config) => applyTimes(server, changed),
    /** Closes idle connections immediately, and others after their answers. Resolves when all are closed. */
    close: () => close(server, sockets),
  };
}

/** Interval of the checks for idle connections, and time limit of the last answers. */
const CLOSE_STEP_MS = 20;
const CLOSE_MS = 1000;

async function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const until = performance.now() + CLOSE_MS;
  // Node counts a connection as idle once its answer has ended, although the client may not have read all of it.
  // An answer that waits for an earlier one of its connection is not even written before the next turns.
  do await delay(CLOSE_STEP_MS);
  while (performance.now() < until && [...sockets].some(({ writableLength }) => writableLength > 0));
  // Kept-alive connections close after their answers, the others at the time limit.
  const step = setInterval(() => {
    if (performance.now() < until) server.closeIdleConnections();
    else server.closeAllConnections();
  }, CLOSE_STEP_MS);
  await new Promise((closed) => server.close(closed));
  clearInterval(step);
}

function makeServer(config: Config, find: Find, refused: Refused): Server {
  const { headersMs, bodyMs } = config.timeouts;
  const take = (request: IncomingMessage, response: ServerResponse): void => enter(request, response, find, refused);
  const broken = (error: Error, socket: Duplex): void => {
    const refusal = socket instanceof Socket ? answerBrokenRequest(error, socket) : undefined;
    if (refusal !== undefined) refused(refusal, undefined);
  };
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      // Longest delay until a slow request is noticed.
      connectionsCheckingInterval: Math.min(Math.max(Math.ceil(Math.min(headersMs, bodyMs) / 4), 50), 5000),
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Checked in `enter`, because Node's answer would lack our headers.
      requireHostHeader: false,
      noDelay: true,
    },
    take,
  );
  applyTimes(server, config);
  // No limit on the number of headers, because their bytes are limited, and Node silently drops headers above a number.
  server.maxHeadersCount = 0;
  // The handler requests the body when it wants it, after the request has been checked.
  server.on('checkContinue', take);
  server.on('checkExpectation', take);
  // Pipelined requests each listen for the end of their common socket.
  server.on('connection', (socket) => socket.setMaxListeners(0));
  // Both replace Node's own answers, which would lack our headers.
  server.on('clientError', broken);
  server.on('connect', (_request, socket) => {
    broken(Object.assign(new Error('CONNECT'), { code: 'HPE_INVALID_METHOD' }), socket);
  });
  return server;
}

function applyTimes(server: Server, { timeouts }: Config): void {
  server.headersTimeout = timeouts.headersMs;
  // Limit for bodies that nobody reads. `readBody` has its own timer and a better answer.
  server.requestTimeout = timeouts.headersMs + timeouts.bodyMs;
}

function enter(request: IncomingMessage, response: ServerResponse, find: Find, refused: Refused): void {
  noteRequest(request, response);
  settleRequestId(request);
  request.url = originForm(request.url ?? '/');
  try {
    checkHead(request);
    if (!request.url.startsWith('/')) throw unknownPath();
    checkEncoding(splitTarget(request.url).path);
    const { handlers, params } = find(request.url);
    const running = handlerOf(handlers, request)(request, response, params);
    running?.catch((thrown: unknown) => refuse(response, thrown, refused));
  } catch (thrown) {
    refuse(response, thrown, refused);
  }
}

/** @throws GatewayError `bad_request`, `expectation_failed` */
function checkHead({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  if (headers.host === undefined && httpVersion === '1.1')
    throw new GatewayError('bad_request', 'The Host header is missing.');
  // Node keeps the first Host header, and a server behind may keep the last (RFC 9112 3.2).
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) throw new GatewayError('bad_request', 'There is more than one Host header.');
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    throw new GatewayError('expectation_failed', 'Nothing but 100-continue can be expected.');
}

function handlerOf(handlers: Handlers, request: IncomingMessage): Handler {
  const byMethod: Readonly<Record<string, Handler | undefined>> = handlers;
  const method = request.method === 'HEAD' && byMethod['HEAD'] === undefined ? 'GET' : (request.method ?? '');
  return byMethod[method] ?? handlers.ALL ?? otherMethod(handlers);
}

/** Reports the allowed methods: 204 to OPTIONS, otherwise 405. */
function otherMethod(handlers: Handlers): Handler {
  const methods = Object.keys(handlers);
  const use = methods.join(' or ');
  if (methods.includes('GET')) methods.push('HEAD');
  const allow = [...methods, 'OPTIONS'].join(', ');
  return (request, response) => {
    if (request.method !== 'OPTIONS') {
      checkNoUpgrade(request);
      response.setHeader('allow', allow);
      throw new GatewayError('method_not_allowed', `Use ${use} for this path, not ${request.method}.`);
    }
    response.writeHead(204, { allow, 'x-request-id': settleRequestId(request), 'x-maitred-reason': 'options' });
    response.end();
  };
}

/** Rejects upgrades: forwarded as a plain request, one would get an uninformative error. @throws GatewayError */
export function checkNoUpgrade({ headers }: IncomingMessage): void {
  if (/\bupgrade\b/i.test(headers.connection ?? '') && /\bwebsocket\b/i.test(headers.upgrade ?? ''))
    throw new GatewayError('upgrade_unsupported', 'WebSockets are not passed on. Connect to an engine directly.');
}

function refuse(response: ServerResponse, thrown: unknown, refused: Refused): void {
  const error = asGatewayError(thrown);
  refused(error, response.req, error === thrown ? undefined : thrown);
  if (error.code === 'client_gone' || response.headersSent) response.destroy();
  else sendError(response, error, familyOf(splitTarget(response.req.url ?? '').path));
}

const unknownPath = (hint = ''): GatewayError =>
  new GatewayError('unknown_path', `There is nothing at this path.${hint}`);

/** The URL at which this machine reaches a listener. */
export function urlAt(host: string, port: number): string {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}
