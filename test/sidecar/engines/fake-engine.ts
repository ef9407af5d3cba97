import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Get } from '../../../sidecar/engines/adapter.js';

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

export interface FakeEngine {
  readonly url: string;
  /** Answers by path; any other path is 404. Change the map to change the engine. */
  readonly routes: Map<string, Route>;
  /** Answer of every path, if set. */
  all: Route | undefined;
  /** `METHOD path authorization` of each request, in order. */
  readonly requests: string[];
  sockets(): number;
  close(): Promise<void>;
}

/** Starts a server with canned answers on a free loopback port. */
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

/** Reads canned answers of these paths; all other paths are 404. */
export const cannedGet =
  (answers: Record<string, string | object>): Get =>
  (path) => {
    const answer = answers[path];
    return Promise.resolve(typeof answer === 'object' ? JSON.stringify(answer) : answer);
  };
