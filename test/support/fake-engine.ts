import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Get } from '../../sidecar/engines/adapter.js';
import { cleanUp } from './clean-up.js';

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

/** Answer of a path: a body with 200, a bare status, or a function that answers. */
export type Route = string | number | ((response: ServerResponse) => void);

export const hang: Route = () => undefined;
/** Sends only headers, then stays silent. */
export const stall: Route = (response) => response.flushHeaders();
export const reset: Route = (response) => response.socket?.destroy();
/** A valid body, padded beyond the limit of a probe's answer. */
export const endless = (body: string): Route => body.padEnd(9 * 1024 * 1024);
/** An error page larger than one packet. */
export const errorPage: Route = (response) => response.writeHead(404).end(Buffer.alloc(100_000, 'x'));
export const cutShort: Route = (response) => {
  response.writeHead(200, { 'content-length': 9 });
  response.write('half', () => response.destroy());
};

/** An engine at a free loopback port. What the gateway forwards has a request id; its own questions have none. */
export class FakeEngine {
  /** Answer of every path to a question, if set. */
  all: Route | undefined;
  /** Questions as `METHOD path authorization`, oldest first. */
  readonly requests: string[] = [];
  /** All that was forwarded, oldest first. */
  readonly seen: Seen[] = [];
  /** Ids that it was asked to abort. */
  readonly aborts: string[] = [];
  /** Connections that are open. */
  sockets = 0;
  url = '';
  readonly #server: Server;

  private constructor(
    /** Answers to questions by path; any other path is 404. */
    readonly routes: Map<string, Route>,
    /** Answers what is forwarded. */
    public answer: Answer,
  ) {
    this.#server = createServer((request, response) => void this.#take(request, response));
    this.#server.on('connection', (socket) => {
      this.sockets += 1;
      socket.on('close', () => (this.sockets -= 1));
    });
  }

  /** Closed after the test. */
  static async start(routes: Readonly<Record<string, Route>>, answer: Answer = completion()): Promise<FakeEngine> {
    const engine = new FakeEngine(new Map(Object.entries(routes)), answer);
    engine.#server.listen(0, '127.0.0.1');
    await once(engine.#server, 'listening');
    engine.url = `http://127.0.0.1:${(engine.#server.address() as AddressInfo).port}`;
    cleanUp(() => engine.close());
    return engine;
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

  /** Listens again at its port. */
  async reopen(): Promise<void> {
    this.#server.listen(Number(new URL(this.url).port), '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    const { method = '', url = '', headers } = request;
    if (url === '/abort_request') {
      for await (const chunk of request) this.aborts.push((JSON.parse(String(chunk)) as { rid: string }).rid);
      response.end();
      return;
    }
    if (headers['x-request-id'] === undefined) {
      this.requests.push([method, url, headers.authorization].filter(Boolean).join(' '));
      const route = this.all ?? this.routes.get(url) ?? 404;
      if (typeof route === 'function') route(response);
      else if (typeof route === 'number') response.writeHead(route).end();
      else response.end(route);
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

export const modelList = (ids: readonly string[], owner = 'vllm'): string =>
  JSON.stringify({ object: 'list', data: ids.map((id) => ({ id, object: 'model', created: 1, owned_by: owner })) });

/** Reads canned answers of these paths; all other paths are 404. */
export const cannedGet =
  (answers: Readonly<Record<string, string | object>>): Get =>
  (path) => {
    const answer = answers[path];
    return Promise.resolve(typeof answer === 'object' ? JSON.stringify(answer) : answer);
  };

/** Answers so, in JSON if the headers name no other type. @param body bytes and texts as they are */
export const replies =
  (status: number, body: unknown = '', headers: Readonly<Record<string, string | number>> = {}): Answer =>
  (response) => {
    const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(bytes);
  };

/** Answers with one chat completion. */
export const completion = (more: object = {}): Answer => replies(200, completionBody(more));

export const completionBody = (more: object = {}): object => ({
  id: 'c-1',
  object: 'chat.completion',
  model: MODEL,
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 3 },
  ...more,
});
