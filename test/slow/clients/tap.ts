import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** The head of an answer on the wire. */
export interface AnswerHead {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request on the wire, its body as JSON. */
export interface Sent {
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface Tap {
  /** Base URL for clients. */
  readonly url: string;
  /** Heads of all answers so far, in the order of their connections. */
  answers(): AnswerHead[];
  /** All requests so far, in the order of their connections. */
  requests(): Sent[];
}

/** Relays every byte between clients and the gateway unchanged, so that clients can be watched as they are. */
export async function startTap(target: string): Promise<Tap> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const connections: { readonly up: Buffer[]; readonly down: Buffer[] }[] = [];
  const server = createServer((client) => {
    const chunks = { up: [] as Buffer[], down: [] as Buffer[] };
    connections.push(chunks);
    const upstream = connect(Number(port), hostname);
    upstream.on('data', (chunk: Buffer) => chunks.down.push(chunk));
    client.on('data', (chunk: Buffer) => chunks.up.push(chunk));
    client.pipe(upstream).pipe(client);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy()).on('close', () => sockets.delete(socket));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers: () => connections.flatMap(({ down }) => readHeads(Buffer.concat(down).toString('latin1'))),
    requests: () => connections.flatMap(({ up }) => readRequests(Buffer.concat(up))),
  };
}

/** A head begins a line; no body of these tests contains such a line. */
function readHeads(text: string): AnswerHead[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})[^\r]*\r\n((?:[^\r]+\r\n)*)\r\n/g)].map((match) => ({
    status: Number(match[1]),
    headers: readHeaders(match[2]!),
  }));
}

/** Requests of one connection. Their bodies must have a length. */
function readRequests(bytes: Buffer): Sent[] {
  const sent: Sent[] = [];
  for (let rest = bytes; rest.length > 0;) {
    const [head, path, lines] = /^[A-Z]+ (\S+) HTTP\/1\.1\r\n((?:[^\r]+\r\n)*)\r\n/.exec(rest.toString('latin1'))!;
    const headers = readHeaders(lines!);
    const end = head.length + Number(headers['content-length'] ?? 0);
    const body = rest.toString('utf8', head.length, end);
    sent.push({ path: path!, headers, body: body === '' ? undefined : JSON.parse(body) });
    rest = rest.subarray(end);
  }
  return sent;
}

const readHeaders = (lines: string): AnswerHead['headers'] =>
  Object.fromEntries(
    lines
      .trimEnd()
      .split('\r\n')
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
