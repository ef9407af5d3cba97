import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Get } from '../../../sidecar/engines/adapter.js';

/** What a path answers: a body with 200, a bare status, or as a function does. */
export type Route = string | number | ((response: ServerResponse) => void);

export const hang: Route = () => undefined;
/** Silence after the headers. */
export const stall: Route = (response) => response.flushHeaders();
export const reset: Route = (response) => response.socket?.destroy();
/** A body that would be well, were it not longer than any answer to a probe may be. */
export const endless = (body: string): Route => body.padEnd(9 * 1024 * 1024);
/** An error page that fills more than one packet. */
export const errorPage: Route = (response) => response.writeHead(404).end(Buffer.alloc(100_000, 'x'));
export const cutShort: Route = (response) => {
  response.writeHead(200, { 'content-length': 9 });
  response.write('half', () => response.destroy());
};

export interface FakeEngine {
  readonly url: string;
  /** By path; anything else is 404. Change it to change the engine. */
  readonly routes: Map<string, Route>;
  /** Answers every path, when set. */
  all: Route | undefined;
  /** `METHOD path authorization` of each request, in order. */
  readonly requests: string[];
  sockets(): number;
  close(): Promise<void>;
}

/** A server with canned answers on a free port of the loopback. */
export async function startFakeEngine(routes: Record<string, Route>): Promise<FakeEngine> {
  const open = new Set<Socket>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    fake.requests.push([request.method, path, request.headers.authorization].filter(Boolean).join(' '));
    const route = fake.all ?? fake.routes.get(path) ?? 404;
    if (typeof route === 'function') route(response);
    else if (typeof route === 'number') response.writeHead(route).end();
    else response.end(route);
  });
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const fake: FakeEngine = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    routes: new Map(Object.entries(routes)),
    all: undefined,
    requests: [],
    sockets: () => open.size,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
  return fake;
}

export const modelList = (ids: readonly string[], owner = 'vllm'): string =>
  JSON.stringify({ object: 'list', data: ids.map((id) => ({ id, object: 'model', created: 1, owned_by: owner })) });

/** A server that answers these paths, and 404 to all others. */
export const cannedGet =
  (answers: Record<string, string | object>): Get =>
  (path) => {
    const answer = answers[path];
    return Promise.resolve(typeof answer === 'object' ? JSON.stringify(answer) : answer);
  };
