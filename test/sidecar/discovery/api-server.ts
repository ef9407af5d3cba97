import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Condition {
  readonly ready?: boolean | null;
  readonly serving?: boolean;
  readonly terminating?: boolean;
}

/** One endpoint: its address, its pod (''; none) and its conditions. */
export type EndpointOf = readonly [address: string, pod: string, conditions?: Condition | undefined];

export function sliceOf(name: string, endpoints: readonly EndpointOf[] | null, more: object = {}): object {
  return {
    metadata: { name, resourceVersion: '1' },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8000, protocol: 'TCP' }],
    endpoints:
      endpoints?.map(([address, pod, conditions]) => ({
        addresses: [address],
        conditions,
        targetRef: pod === '' ? undefined : { kind: 'Pod', name: pod },
      })) ?? null,
    ...more,
  };
}

/** An API server that speaks list and watch for EndpointSlices, as far as a test says. */
export class FakeApiServer {
  slices: object[] = [];
  /** Version of the list, and so of the watch that follows it. */
  version = '100';
  /** Slices in one page of a list. */
  page = 100;
  /** Answers the next requests instead: by a status, or by breaking the connection. */
  readonly failures: (number | 'break')[] = [];
  /** Queries so far. */
  readonly asked: URLSearchParams[] = [];
  readonly paths = new Set<string>();
  readonly tokens: (string | undefined)[] = [];
  /** The watch that is open. */
  watch: ServerResponse | undefined;
  readonly server: Server;

  constructor(make: (listener: RequestListener) => Server = createServer) {
    this.server = make((request, response) => this.#answer(request, response));
  }

  static async start(): Promise<FakeApiServer> {
    const fake = new FakeApiServer();
    await fake.listen();
    return fake;
  }

  async listen(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  readonly cluster = () =>
    Promise.resolve({ server: `http://127.0.0.1:${this.port}`, namespace: 'llm', token: 't', tls: {} });

  get watches(): readonly URLSearchParams[] {
    return this.asked.filter((query) => query.has('watch'));
  }

  get lists(): readonly URLSearchParams[] {
    return this.asked.filter((query) => !query.has('watch'));
  }

  send(type: string, object: object): void {
    this.watch?.write(`${JSON.stringify({ type, object })}\n`);
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '', 'http://k');
    this.asked.push(url.searchParams);
    this.paths.add(url.pathname);
    this.tokens.push(request.headers.authorization);
    const failure = this.failures.shift();
    if (failure === 'break') return void response.destroy();
    if (failure !== undefined) return void response.writeHead(failure).end('{"message": "no such luck"}');
    if (url.searchParams.has('watch')) {
      this.watch = response;
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.flushHeaders();
    }
    const from = Number(url.searchParams.get('continue') ?? 0);
    const to = from + this.page;
    const more = to < this.slices.length ? { continue: String(to) } : {};
    response.end(
      JSON.stringify({ metadata: { resourceVersion: this.version, ...more }, items: this.slices.slice(from, to) }),
    );
  }
}
