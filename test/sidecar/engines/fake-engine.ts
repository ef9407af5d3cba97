import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** What a path answers: a body with 200, a bare status, or as a function does. */
export type Route = string | number | ((response: ServerResponse) => void);

export const hang: Route = () => undefined;
export const reset: Route = (response) => response.socket?.destroy();
/** More than any answer to a probe may hold. */
export const endless: Route = (response) => response.end(Buffer.alloc(9 * 1024 * 1024, 32));
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
