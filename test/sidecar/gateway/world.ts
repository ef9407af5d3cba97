import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { Agent, request as httpRequest, type Dispatcher } from 'undici';
import { afterEach } from 'vitest';
import { configSchema } from '../../../sidecar/config/index.js';
import { startGateway, type Gateway, type GatewayOptions } from '../../../sidecar/index.js';

/** Gateways and engines for one test file; everything started is closed after each test. */

export const MODEL = 'm';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Resolves if this request's connection closes before its answer has ended. */
  readonly abandoned: Promise<void>;
}

export type Answer = (response: ServerResponse, seen: Seen, request: IncomingMessage) => void | Promise<void>;

/** An engine that lists one model; the test defines all other answers. */
export class FakeEngine {
  /** All requests except probes, oldest first. */
  readonly seen: Seen[] = [];
  /** Ids that it was asked to abort. */
  readonly aborts: string[] = [];
  /** Sessions that it was asked to close. */
  readonly closes: string[] = [];
  /** Answers to probes by path; any other path but `/health` is 404. */
  readonly probes = new Map<string, string>();
  answer: Answer;
  readonly #server: Server;

  private constructor(answer: Answer, models: readonly string[]) {
    this.answer = answer;
    this.#server = createServer((request, response) => void this.#take(request, response, models));
  }

  static async start(answer: Answer = completion(), models: readonly string[] = [MODEL]): Promise<FakeEngine> {
    const engine = new FakeEngine(answer, models);
    engine.#server.listen(0, '127.0.0.1');
    await once(engine.#server, 'listening');
    return engine;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get id(): string {
    return new URL(this.url).host;
  }

  get last(): Seen {
    const last = this.seen.at(-1);
    if (last === undefined) throw new Error('the engine has seen no request');
    return last;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse, models: readonly string[]): Promise<void> {
    response.on('error', () => undefined);
    const { method = '', url = '', headers } = request;
    if (url === '/v1/models') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ object: 'list', data: models.map((id) => ({ id, object: 'model' })) }));
      return;
    }
    if (url === '/abort_request') {
      for await (const chunk of request) this.aborts.push((JSON.parse(String(chunk)) as { rid: string }).rid);
      response.end();
      return;
    }
    if (url === '/close_session') {
      for await (const chunk of request)
        this.closes.push((JSON.parse(String(chunk)) as { session_id: string }).session_id);
      response.end();
      return;
    }
    // Everything that the gateway forwards has a request id; its probes have none.
    if (headers['x-request-id'] === undefined) {
      response.statusCode = url === '/health' || this.probes.has(url) ? 200 : 404;
      response.end(this.probes.get(url));
      return;
    }
    const abandoned = new Promise<void>((resolve) => {
      response.on('close', () => {
        if (!response.writableFinished) resolve();
      });
    });
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const seen = { method, url, headers, body: Buffer.concat(chunks), abandoned };
    this.seen.push(seen);
    await this.answer(response, seen, request);
  }
}

export interface World {
  readonly gateway: Gateway;
  readonly url: string;
  readonly adminUrl: string;
  /** Parsed log lines so far. */
  readonly logs: Record<string, unknown>[];
}

type Overrides = Readonly<Record<string, unknown>>;

const cleanups: (() => Promise<unknown>)[] = [];
const agent = new Agent({ connections: 256, keepAliveTimeout: 1 });

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export async function fakeEngine(answer?: Answer, models?: readonly string[]): Promise<FakeEngine> {
  const engine = await FakeEngine.start(answer, models);
  cleanups.push(() => engine.close());
  return engine;
}

/** Registers a cleanup for anything else that a test starts. */
export function cleanUp(close: () => Promise<unknown>): void {
  cleanups.push(close);
}

const SMALL = {
  // The defaults reserve memory for a hundred thousand of each, which would slow down the tests.
  conversationsMax: 1000,
  responsesMax: 1000,
  // Large bodies are read inline, because the thread runs only built code and these tests run the sources.
  inlineBytes: 1e10,
};

/** A busy machine does not make an engine look sick. */
const PATIENT = { health: { timeoutMs: 60_000 } };

export function configOf(engines: readonly { readonly url: string }[], overrides: Overrides = {}) {
  return configSchema.parse({
    listen: { port: 0 },
    engines: engines.map(({ url }) => ({ url, kind: 'openai' })),
    ...PATIENT,
    ...overrides,
    limits: { ...SMALL, ...(overrides['limits'] as object | undefined) },
  });
}

/** A queue in which calls wait at most this long; the other times fit within it. */
export function queueOf(queueMs: number, { admission = {}, timeouts = {} }: Readonly<Record<string, object>> = {}) {
  return {
    starvation: { waitMsMax: queueMs / 2 },
    admission: { reserveMs: queueMs / 2, turnMs: queueMs / 2, ...admission },
    timeouts: { queueMs, ...timeouts },
  };
}

export async function world(
  engines: readonly { readonly url: string }[],
  overrides: Overrides = {},
  options: GatewayOptions = {},
): Promise<World> {
  const logs: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'info' },
    {
      write: (line: string) => {
        if (line.includes('invariant broken')) throw new Error(line);
        logs.push(JSON.parse(line) as (typeof logs)[0]);
      },
    },
  );
  const gateway = await startGateway(configOf(engines, overrides), { log, ...options });
  cleanups.push(() => gateway.close());
  return { gateway, url: gateway.url, adminUrl: gateway.adminUrl, logs };
}

export interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  json(): Record<string, unknown>;
}

type RequestInit = {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
};

/** Sends one request; returns the whole answer. */
export async function ask(url: string, init: RequestInit = {}): Promise<Got> {
  const response = await open(url, init);
  const bytes = Buffer.from(await response.body.arrayBuffer());
  const text = bytes.toString();
  return {
    status: response.statusCode,
    headers: response.headers,
    bytes,
    text,
    json: () => JSON.parse(text) as Record<string, unknown>,
  };
}

/** Sends one request; returns the answer as a stream. */
export function open(url: string, init: RequestInit = {}): Promise<Dispatcher.ResponseData> {
  const { method = init.body === undefined ? 'GET' : 'POST', ...rest } = init;
  return httpRequest(url, { method, dispatcher: agent, ...rest });
}

export const chatBody = (more: object = {}): string =>
  JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'hello' }], ...more });

export const JSON_TYPE = { 'content-type': 'application/json' };

export function chat(
  url: string,
  more: object = {},
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Got> {
  return ask(`${url}/v1/chat/completions`, {
    headers: { ...JSON_TYPE, ...headers },
    body: chatBody(more),
    ...(signal && { signal }),
  });
}

export function openChat(
  url: string,
  more: object = {},
  headers: Record<string, string> = {},
): Promise<Dispatcher.ResponseData> {
  return open(`${url}/v1/chat/completions`, { headers: { ...JSON_TYPE, ...headers }, body: chatBody(more) });
}

/** Answers with one chat completion. */
export function completion(more: object = {}): Answer {
  return (response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(completionBody(more)));
  };
}

export const completionBody = (more: object = {}): object => ({
  id: 'c-1',
  object: 'chat.completion',
  model: MODEL,
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 3 },
  ...more,
});

export const TEXT_EVENT = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n';
export const STOP_EVENT = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
export const USAGE_EVENT = 'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\n';
export const DONE_EVENT = 'data: [DONE]\n\n';
export const STREAM = [TEXT_EVENT, TEXT_EVENT, STOP_EVENT, DONE_EVENT];

/** Answers with an event stream of these parts. */
export function stream(parts: readonly string[] = STREAM): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of parts) response.write(part);
    response.end();
  };
}

/** A gate that holds answers back until a test opens it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Waits until `holds`, checking every few milliseconds; fails after `ms`. */
export async function until(holds: () => unknown, ms = 20_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('what was waited for did not come');
    await sleep(5);
  }
}

/** Sends bytes over a separate socket and returns everything received until it closes. */
export async function raw(url: string, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const socket = dial(url);
  for (const part of parts) socket.write(part);
  return drainSocket(socket);
}

export function dial(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  cleanups.push(() => Promise.resolve(socket.destroy()));
  return socket;
}

export function drainSocket(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => (text += chunk));
    socket.on('close', () => resolve(text));
  });
}

/** The error code of an answer in OpenAI's shape, in the body or in the last event. */
export function errorCode(text: string): string | undefined {
  return /"code":"(\w+)"/.exec(text)?.[1];
}

/** Number of waiting calls. */
export async function waiting(adminUrl: string): Promise<unknown> {
  return (await ask(`${adminUrl}/queue`)).json()['waiting'];
}

/** `maitred_` samples of a gateway, `name{labels}` to value. */
export async function metrics(adminUrl: string): Promise<Map<string, number>> {
  const { text } = await ask(`${adminUrl}/metrics`);
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^(maitred_\S+) (\S+)$/.exec(line) ?? [];
    if (name !== undefined) samples.set(name, Number(value));
  }
  return samples;
}
