import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Agent, request } from 'undici';
import type { Cluster } from './cluster.js';

const CONNECT_MS = 5000;
/** The start of an answer; an API server under load takes its time. */
const HEADERS_MS = 30_000;
/** One document about a Service is far smaller; a wrong address must not exhaust memory. */
const DOCUMENT_BYTES_MAX = 16_777_216;

/** As undici has it. A busy Service may send any number of documents during one watch. */
const UNLIMITED = -1;

/** The API server refused: an HTTP status, or an error within a watch. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export interface Ask {
  readonly cluster: Cluster;
  /** Begins with a slash. */
  readonly path: string;
  /** Longest silence within the answer, in milliseconds. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/** One JSON document. @throws Refused; Error if the connection or the document breaks */
export function get(ask: Ask): Promise<unknown> {
  return answer(ask, DOCUMENT_BYTES_MAX, async (body) => JSON.parse(await text(body)) as unknown);
}

/** Hands over JSON documents line by line, as they come, until the answer ends. @throws as `get`, and what `take` throws */
export function watch(ask: Ask, opened: () => void, take: (document: unknown) => void): Promise<void> {
  return answer(ask, UNLIMITED, async (body) => {
    opened();
    let rest = '';
    for await (const chunk of body.setEncoding('utf8')) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > DOCUMENT_BYTES_MAX) throw new Error('the API server sent a line that is too long');
      for (const line of lines) take(JSON.parse(line));
    }
  });
}

/** Reads an answer over a connection of its own: the next request may have other credentials. */
async function answer<T>(
  { cluster, path, silenceMs, signal }: Ask,
  bytesMax: number,
  read: (body: Readable) => Promise<T>,
): Promise<T> {
  const agent = new Agent({
    connect: cluster.tls,
    connectTimeout: CONNECT_MS,
    headersTimeout: HEADERS_MS,
    bodyTimeout: silenceMs,
    maxResponseSize: bytesMax,
  });
  try {
    const { statusCode, body } = await request(cluster.server + path, {
      dispatcher: agent,
      signal,
      headers: {
        accept: 'application/json',
        'user-agent': 'maitred',
        authorization: `Bearer ${cluster.token}`,
      },
    });
    if (statusCode === 200) return await read(body);
    throw new Refused(statusCode, `the API server answers ${statusCode}: ${messageIn(await body.text())}`);
  } finally {
    await agent.destroy();
  }
}

/** Kubernetes refuses with a `Status` that has a message. */
function messageIn(body: string): string {
  try {
    const { message } = JSON.parse(body) as { readonly message?: unknown };
    return typeof message === 'string' ? message : '';
  } catch {
    return '';
  }
}
