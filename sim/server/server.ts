import { LRUCache } from 'lru-cache';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import type { Api, Terms } from '../apis/api.js';
import { chat } from '../apis/chat.js';
import { completions } from '../apis/completions.js';
import { anthropicError, ApiError, noRoute, openaiError, unknownResponse, type JsonObject } from '../apis/fields.js';
import { messages, readMessagesPrompt } from '../apis/messages.js';
import { responseId, responses } from '../apis/responses.js';
import { Engine } from '../engine/engine.js';
import type { Settings } from '../options.js';
import { parseObject, readText, Outlet } from './outlet.js';
import { Call, type CallHost } from './call.js';
import { FaultPlan, NO_FAULT } from './faults.js';
import { metricsOf, sequenceRecord, StatsBook, type EngineStats, type OpenRecord } from './stats.js';
import { Runner, type Job } from './runner.js';
import { embeddings, tokenize } from './utilities.js';

/** The version of vLLM that is imitated, marked as the stand-in's. */
const VERSION = '0.32.0+sim';
/** Ample for headers, which a gateway may add to. */
const HEADER_BYTES_MAX = 2 ** 20;
/** Connections that may wait to be accepted: a gateway may open more at once than Node's default of 511. */
const BACKLOG = 4096;
const STORED_MAX = 256;
const RESPONSE_PATH = /^\/v1\/responses\/([^/]+)(\/cancel)?$/;

interface Exchange {
  readonly response: ServerResponse;
  readonly outlet: Outlet;
  readonly body: JsonObject;
  readonly record: OpenRecord | undefined;
}

type Handler = (exchange: Exchange) => void | Promise<void>;

/** A stand-in engine behind HTTP: its routes and their shared state. */
export class EngineServer implements CallHost {
  readonly runner: Runner;
  readonly #engine: Engine<Job>;
  readonly #models: readonly string[];
  readonly #metrics: Registry;
  readonly faults: FaultPlan;
  readonly #stored = new LRUCache<string, Call>({ max: STORED_MAX });
  readonly #stats: StatsBook;
  readonly #generating: ReadonlyMap<string, Api>;
  readonly #routes: ReadonlyMap<string, Handler>;
  readonly #closing = new AbortController();
  readonly #startedAt = Math.floor(Date.now() / 1000);
  readonly #server: Server;

  constructor(readonly settings: Settings) {
    const { preset, blockSize, tier: host } = settings;
    this.#models = settings.models ?? [preset.model];
    this.#engine = new Engine<Job>({ preset, blockSize, host });
    this.runner = new Runner(this.#engine, settings.speed);
    this.#metrics = metricsOf(this.#engine, settings, this.#models[0] ?? preset.model);
    this.faults = new FaultPlan(settings.faults);
    this.#stats = new StatsBook(settings.recordsMax);
    this.#generating = new Map([
      ['/v1/chat/completions', chat],
      ['/v1/completions', completions],
      ['/v1/responses', responses],
      ['/v1/messages', messages],
      ['/v1/embeddings', embeddings],
    ]);
    this.#routes = this.#makeRoutes();
    this.#server = createServer({ maxHeaderSize: HEADER_BYTES_MAX }, (request, response) => {
      void this.#handle(request, response);
    });
  }

  /** Resolves with the base URL. Rejects when the port cannot be had. */
  listen(): Promise<string> {
    const { host, port } = this.settings;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ port, host, backlog: BACKLOG }, () => {
        const address = this.#server.address();
        const bound = typeof address === 'object' && address !== null ? address.port : port;
        resolve(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`);
      });
    });
  }

  close(): Promise<void> {
    this.#closing.abort();
    this.runner.close();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  stats(): EngineStats {
    return this.#stats.read(this.#engine);
  }

  modelOf({ model }: Terms): string {
    const name = model ?? this.#models[0] ?? '';
    if (!this.#models.includes(name)) throw new ApiError(404, `The model \`${name}\` does not exist.`, 'model');
    return name;
  }

  #makeRoutes(): ReadonlyMap<string, Handler> {
    const json =
      (read: (body: JsonObject) => object): Handler =>
      ({ outlet, body }) =>
        outlet.json(200, read(body));
    const health: Handler = ({ response }) => {
      response.writeHead(this.faults.healthy ? 200 : 503).end();
    };
    const routes: [string, Handler][] = [
      ['GET /health', health],
      ['GET /version', json(() => ({ version: VERSION }))],
      ['GET /metrics', async ({ outlet }) => outlet.text(this.#metrics.contentType, await this.#metrics.metrics())],
      ['GET /v1/models', json(() => this.#modelList())],
      ['POST /tokenize', json((body) => tokenize(body, this.#engine.maxModelLen))],
      ['POST /v1/messages/count_tokens', json((body) => ({ input_tokens: readMessagesPrompt(body).ids.length }))],
      ['POST /reset_prefix_cache', json(() => (this.#engine.reset(), {}))],
      ['POST /sim/faults', json((body) => (this.faults.update(body), this.#faultState()))],
      ['DELETE /sim/faults', json(() => (this.faults.clear(), this.#faultState()))],
    ];
    for (const [path, api] of this.#generating)
      routes.push([`POST ${path}`, (exchange) => this.#generate(exchange, api)]);
    return new Map(routes);
  }

  /** Reads and dispatches a request, and turns every error into the shape of its path. */
  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const api = request.method === 'POST' ? this.#generating.get(path) : undefined;
    let outlet = new Outlet(response, NO_FAULT);
    response.setHeader('x-sim-speed', this.settings.speed);
    try {
      const record = api && this.#stats.open(path, request.headers);
      const text = await readText(request);
      if (record !== undefined && this.settings.recordBodies) record.body = text;
      outlet = new Outlet(response, this.faults.next(request.headers['x-sim-fault'], api !== undefined));
      const slowMs = outlet.fault.get('slow');
      if (slowMs !== undefined) await sleep(slowMs, undefined, { signal: this.#closing.signal });
      // The client has left, and no later event would tell of it.
      if (response.destroyed || outlet.misbehave(text)) return;
      const status = outlet.fault.get('status');
      if (status !== undefined) throw faultyStatus(status, outlet);
      this.#authorise(request, path);
      const handler = this.#route(request.method ?? '', path);
      const body = request.method === 'POST' && !isBodyless(path) ? parseObject(text) : {};
      await handler({ response, outlet, body, record });
    } catch (error) {
      this.#refuse(error, path, outlet, response);
    }
  }

  #refuse(error: unknown, path: string, outlet: Outlet, response: ServerResponse): void {
    // The client left while its body was read, or the server closes: there is nobody to answer.
    if (response.destroyed || this.#closing.signal.aborted) return;
    const known = error instanceof ApiError ? error : new ApiError(500, `Internal error: ${String(error)}`);
    const shape = path.startsWith('/v1/messages') ? anthropicError : openaiError;
    if (response.headersSent) response.destroy();
    else outlet.json(known.status, known.body ?? shape(known), known.headers);
  }

  #route(method: string, path: string): Handler {
    const handler = this.#routes.get(`${method} ${path}`) ?? this.#responseRoute(method, path);
    if (handler !== undefined) return handler;
    throw noRoute([...this.#routes.keys()].flatMap((key) => (key.endsWith(` ${path}`) ? key.split(' ', 1) : [])));
  }

  #responseRoute(method: string, path: string): Handler | undefined {
    const [, id = '', cancel] = RESPONSE_PATH.exec(path) ?? [];
    const actions: Readonly<Record<string, (call: Call, id: string) => JsonObject>> = {
      GET: (call) => call.snapshot(),
      DELETE: (_, known) => ({ id: known, object: 'response', deleted: this.#stored.delete(known) }),
      'POST cancel': (call) => {
        if (call.cancel()) return call.snapshot();
        throw new ApiError(400, 'Only a response in progress can be cancelled.', 'response_id');
      },
    };
    const action = id === '' ? undefined : actions[cancel === undefined ? method : `${method} cancel`];
    return (
      action &&
      (({ outlet }) => {
        const known = decodeURIComponent(id);
        const call = this.#stored.get(known);
        if (call === undefined) throw unknownResponse(known);
        outlet.json(200, action(call, known));
      })
    );
  }

  #authorise(request: IncomingMessage, path: string): void {
    const { apiKey } = this.settings;
    if (apiKey === undefined || !path.startsWith('/v1')) return;
    const { authorization } = request.headers;
    if (authorization !== `Bearer ${apiKey}` && request.headers['x-api-key'] !== apiKey) {
      throw new ApiError(401, 'Unauthorized', null, {}, { error: 'Unauthorized' });
    }
  }

  #generate({ response, outlet, body, record }: Exchange, api: Api): void {
    const ask = api.read(body, (id) => this.#stored.get(id)?.conversation());
    const call = new Call(this, api, ask, outlet.fault);
    if (record !== undefined) record.sequences = () => call.choices.map(({ sequence }) => sequenceRecord(sequence));
    if (api === responses && body['store'] !== false) this.#stored.set(responseId(call), call);
    if (api === responses && body['background'] === true && !call.terms.stream)
      return outlet.json(200, call.snapshot());
    response.once('close', () => {
      const left = call.abort();
      if (record === undefined) return;
      record.disconnected = left;
      const last = record.sequences();
      record.sequences = () => last;
    });
    call.attach(outlet);
  }

  #modelList(): JsonObject {
    const data = this.#models.map((id) => ({
      id,
      object: 'model',
      created: this.#startedAt,
      owned_by: 'vllm',
      root: id,
      parent: null,
      max_model_len: this.#engine.maxModelLen,
      permission: [],
    }));
    return { object: 'list', data };
  }

  #faultState(): JsonObject {
    this.runner.setStuck(this.faults.stuck);
    return { pending: this.faults.pending, health: this.faults.healthy ? 'up' : 'down', stuck: this.faults.stuck };
  }
}

const isBodyless = (path: string): boolean => path === '/reset_prefix_cache' || path.endsWith('/cancel');

function faultyStatus(status: number, { fault }: Outlet): ApiError {
  const retryAfter = fault.get('retry-after');
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  return new ApiError(status, `Fault: status ${status}.`, null, headers);
}
