import { createParser } from 'eventsource-parser';
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { Agent, request as httpRequest, type Dispatcher } from 'undici';
import { it as base } from 'vitest';
import type { EngineList } from '../../../sidecar/admin/answers.js';
import { configSchema } from '../../../sidecar/config/index.js';
import { startGateway, type Gateway, type GatewayOptions } from '../../../sidecar/index.js';
import type { Command, Event, Millis } from '../../../src/index.js';
import { cleanUp } from '../../support/clean-up.js';
import { completion, FakeEngine, MODEL, modelList, type Answer } from '../../support/fake-engine.js';

export { cleanUp };
export { completion, completionBody, FakeEngine, MODEL, replies, type Answer } from '../../support/fake-engine.js';

/** Gateways and engines for one test file; everything started is closed after each test. */

export interface World extends ReturnType<typeof clientOf> {
  readonly gateway: Gateway;
  readonly url: string;
  readonly adminUrl: string;
  /** Parsed log lines so far. */
  readonly logs: Record<string, unknown>[];
  /** Those of calls. */
  readonly calls: () => Record<string, unknown>[];
}

type Overrides = Readonly<Record<string, unknown>>;

const agent = new Agent({ connections: 256, keepAliveTimeout: 1 });

/** An engine that lists some models; the test defines the answers to all that is forwarded. */
export const fakeEngine = (answer?: Answer, models: readonly string[] = [MODEL]): Promise<FakeEngine> =>
  FakeEngine.start({ '/v1/models': modelList(models), '/health': 200 }, answer);

/** An engine that holds every call until it is told to answer. */
export async function heldEngine(answer: Answer = completion()) {
  const { opened, open } = gate();
  const engine = await fakeEngine(async (...asked) => {
    await opened;
    await answer(...asked);
  });
  return { engine, open };
}

const SMALL = {
  // The defaults reserve memory for a hundred thousand of each, which would slow down the tests.
  conversationsMax: 1000,
  responsesMax: 1000,
  // Large bodies are read inline, because the thread runs only built code and these tests run the sources.
  inlineBytes: 1e10,
};

/** A window of one call. */
export const ONE_AT_A_TIME = { admission: { window: 1 } };

/** A busy machine does not make an engine look sick. */
const PATIENT = { health: { timeoutMs: 60_000 } };

/** `engine` stands for what all engines have in common. */
export function configOf(engines: readonly { readonly url: string }[], { engine = {}, ...overrides }: Overrides = {}) {
  return configSchema.parse({
    listen: { port: 0 },
    engines: engines.map(({ url }) => ({ url, kind: 'openai', ...(engine as object) })),
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
  start = startGateway,
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
  const gateway = await start(configOf(engines, overrides), { log, ...options });
  cleanUp(() => gateway.close());
  const { url, adminUrl } = gateway;
  return {
    gateway,
    url,
    adminUrl,
    logs,
    calls: () => logs.filter((line) => line['msg'] === 'call'),
    ...clientOf(url, adminUrl),
  };
}

/** A gateway in front of one engine. */
export async function lone(answer?: Answer, overrides: Overrides = {}, options: GatewayOptions = {}) {
  const engine = await fakeEngine(answer);
  return { engine, ...(await world([engine], overrides, options)) };
}

/** A test with a gateway before one engine that answers all calls. */
export const it = base.extend('one', () => lone());

/** A gateway in front of an engine that holds every call until it is told to answer. */
export async function held(overrides: Overrides = {}, answer?: Answer) {
  const { engine, open } = await heldEngine(answer);
  return { engine, open, ...(await world([engine], overrides)) };
}

/** Requests to one gateway, by path. */
function clientOf(url: string, adminUrl: string) {
  return {
    ask: (path: string, init?: RequestInit) => ask(url + path, init),
    admin: (path: string, init?: RequestInit) => ask(adminUrl + path, init),
    /** What a path of the admin API says; `T` is the type of its answer. */
    read: async <T = Record<string, unknown>>(path: string, init?: RequestInit) =>
      (await ask(adminUrl + path, init)).json() as T,
    engines: async () => ((await ask(`${adminUrl}/engines`)).json() as unknown as EngineList).engines,
    /** A sample of the gateway, without `maitred_` before its name. */
    counted: async (name: string) => (await metrics(adminUrl)).get(`maitred_${name}`),
    watch: (query: string, headers?: Record<string, string>) => watch(`${adminUrl}/stream?${query}`, headers),
    post: (path: string, body: unknown, headers?: Record<string, string>) => post(url + path, body, headers),
    chat: (more?: object, headers?: Record<string, string>, signal?: AbortSignal) => chat(url, more, headers, signal),
    openChat: (more?: object, headers?: Headers) =>
      open(url + CHAT, { headers: { ...JSON_TYPE, ...headers }, body: chatBody(more) }),
    /** A call whose client may leave. */
    leavingChat: (more?: object, headers?: Headers) => {
      const leaving = new AbortController();
      const call = chat(url, more, headers, leaving.signal).catch(() => 'left' as const);
      return { call, leave: () => leaving.abort() };
    },
    raw: (...parts: readonly (string | Buffer)[]) => raw(url, ...parts),
    dial: () => dial(url),
    metrics: () => metrics(adminUrl),
    waiting: () => waiting(adminUrl),
  };
}

/** Records what the core was told, and what it wanted done. */
export function recording() {
  const steps: { readonly event: Event; readonly now: Millis; readonly commands: readonly Command[] }[] = [];
  const recorder: GatewayOptions['recorder'] = {
    step: (event, now, commands) => void steps.push({ event, now, commands: [...commands] }),
    configured: () => undefined,
  };
  return { steps, recorder };
}

/** Keys of tenants for `auth`, and what their clients send. */
export const keysOf = (...tenants: readonly string[]) =>
  tenants.map((tenant) => ({ sha256: hash('sha256', `key-${tenant}`, 'hex'), tenant }));
export const bearer = (tenant: string) => ({ authorization: `Bearer key-${tenant}` });

export const named = (program: string) => ({ 'x-maitred-program': program });

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

/** Sends JSON, or text as it is. */
export const post = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Got> =>
  ask(url, { headers: { ...JSON_TYPE, ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body) });

export const chatBody = (more: object = {}): string =>
  JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'hello' }], ...more });

export const JSON_TYPE = { 'content-type': 'application/json' };

export const CHAT = '/v1/chat/completions';
type Headers = Record<string, string>;

export const chat = (url: string, more?: object, headers?: Headers, signal?: AbortSignal): Promise<Got> =>
  ask(url + CHAT, { headers: { ...JSON_TYPE, ...headers }, body: chatBody(more), ...(signal && { signal }) });

/** The bytes of a request, and those of a call. */
export function rawRequest(method: string, path: string, headers: Record<string, string | undefined> = {}, body = '') {
  const all: typeof headers = { host: 'localhost', 'content-length': String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => (value === undefined ? '' : `${name}: ${value}\r\n`));
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
export const rawChat = (body = chatBody(), headers: Record<string, string | undefined> = {}): string =>
  rawRequest('POST', CHAT, { ...JSON_TYPE, ...headers }, body);

export const TEXT_EVENT = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n';
export const STOP_EVENT = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
export const USAGE_EVENT = 'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\n';
export const DONE_EVENT = 'data: [DONE]\n\n';
export const STREAM = [TEXT_EVENT, TEXT_EVENT, STOP_EVENT, DONE_EVENT];

/** Begins an event stream with this text, and goes on so. */
export const begun =
  (then: (response: ServerResponse) => unknown = () => undefined, text = TEXT_EVENT): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => void then(response));
  };

/** Answers with an event stream of these parts. */
export function stream(parts: readonly string[] = STREAM): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of parts) response.write(part);
    response.end();
  };
}

/** Answers streamed calls in one way, and others in another. */
export const eitherWay =
  (streamed: Answer, whole: Answer): Answer =>
  (response, seen, request) =>
    (seen.body.includes('"stream":true') ? streamed : whole)(response, seen, request);

/** Never answers. */
export const hang: Answer = () => undefined;

/** The text of a body, of which `each` part is told with all before it. */
export async function heard(body: AsyncIterable<unknown>, each: (text: string) => unknown): Promise<string> {
  let text = '';
  for await (const chunk of body) each((text += String(chunk)));
  return text;
}

/** What a client of `/stream` has received so far: the last of each section, and how many of each came. */
async function watch(url: string, headers: Record<string, string> = {}) {
  const { body } = await open(url, { headers });
  const last: Record<string, unknown> = {};
  const counts: Record<string, number> = {};
  let isOver = false;
  const parser = createParser({
    onEvent: ({ event = '', data }) => {
      last[event] = JSON.parse(data);
      counts[event] = (counts[event] ?? 0) + 1;
    },
  });
  body.on('data', (chunk: Buffer) => parser.feed(chunk.toString()));
  for (const end of ['end', 'close', 'error']) body.on(end, () => (isOver = true));
  cleanUp(() => Promise.resolve(body.destroy()));
  return { last, counts, over: () => isOver };
}

/** A gate that holds answers back until a test opens it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Waits until `holds`, checking every few milliseconds; fails after `ms`. */
export async function until(holds: () => unknown, ms = 120_000): Promise<void> {
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
  cleanUp(() => Promise.resolve(socket.destroy()));
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

export const refusal = ({ status, text }: Got) => [status, errorCode(text)];

/** Number of waiting calls. */
async function waiting(adminUrl: string): Promise<unknown> {
  return (await ask(`${adminUrl}/queue`)).json()['waiting'];
}

/** `maitred_` samples of a gateway, `name{labels}` to value. */
export async function metrics(adminUrl: string, headers: Headers = {}): Promise<Map<string, number>> {
  const { text } = await ask(`${adminUrl}/metrics`, { headers });
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^(maitred_\S+) (\S+)$/.exec(line) ?? [];
    if (name !== undefined) samples.set(name, Number(value));
  }
  return samples;
}
