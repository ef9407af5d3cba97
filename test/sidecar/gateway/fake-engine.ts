import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

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
