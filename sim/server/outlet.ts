import type { ServerResponse, IncomingMessage } from 'node:http';
import { createGzip, gzipSync, type Gzip } from 'node:zlib';
import type { Fault } from './faults.js';
import { ApiError, invalidBody, isObject, type JsonObject } from '../apis/fields.js';

/** Delay before a reset, so that the last bytes reach the client before its kernel discards them. */
const RESET_DELAY_MS = 20;
const GARBAGE = Buffer.from([0x00, 0xff, 0x7b, 0x22, 0x0d, 0x0a, 0x0a, 0xc3, 0x28, 0x3c, 0x80]);

type Headers = Readonly<Record<string, string>>;

/**
 * The output of one call: a whole answer, or events that are collected and written once per `flush`. All deliberate
 * faults happen here.
 */
export class Outlet {
  #events = 0;
  #pending = '';
  #gzip: Gzip | undefined;
  /** A fault has ended the output; later writes are dropped. */
  #dead = false;

  constructor(
    private readonly response: ServerResponse,
    readonly fault: Fault,
  ) {}

  /** The client reads more slowly than the engine writes. */
  get congested(): boolean {
    return this.response.writableNeedDrain;
  }

  onceDrained(listener: () => void): void {
    this.response.once('drain', listener);
  }

  /** Answers the request at once if the fault says so. False: the call may go on. */
  misbehave(body: string): boolean {
    const { fault } = this;
    const status = fault.get('status');
    if (fault.has('reset')) this.response.socket?.resetAndDestroy();
    else if (fault.has('garbage')) {
      const streaming = /"stream"\s*:\s*true/.test(body);
      this.response.setHeader('content-type', streaming ? 'text/event-stream' : 'application/json');
      this.response.end(GARBAGE);
    } else if (fault.has('html')) {
      this.response.writeHead(status ?? 200, { 'content-type': 'text/html' });
      this.response.end('<!doctype html><title>Bad gateway</title><h1>Bad gateway</h1>');
    } else return fault.has('hang');
    return true;
  }

  text(contentType: string, body: string): void {
    this.response.writeHead(200, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
    this.response.end(body);
  }

  json(status: number, value: object, headers: Headers = {}): void {
    const body = Buffer.from(JSON.stringify(value));
    const { fault, response } = this;
    const silentAfter = fault.get('hang-after') ?? fault.get('reset-after');
    const head = { 'content-type': 'application/json', ...headers };
    if (fault.has('gzip')) {
      const packed = gzipSync(body);
      response.writeHead(status, { ...head, 'content-encoding': 'gzip', 'content-length': packed.length });
      response.end(packed);
    } else if (silentAfter !== undefined) {
      response.writeHead(status, { ...head, 'content-length': body.length });
      response.write(body.subarray(0, silentAfter), () => this.#breakOff());
    } else if (fault.has('half')) {
      // Without a length the answer is chunked, and only its incomplete JSON reveals the cut.
      response.writeHead(status, head);
      response.write(body.subarray(0, body.length >> 1));
      response.end();
    } else if (fault.has('short-length') || fault.has('long-length')) {
      const length = fault.has('short-length') ? body.length + 100 : body.length >> 1;
      response.writeHead(status, { ...head, 'content-length': length });
      response.write(body, () => response.socket?.end());
    } else {
      response.writeHead(status, { ...head, 'content-length': body.length });
      response.end(body);
    }
  }

  #open(): void {
    const head: Record<string, string> = {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
    };
    if (this.fault.has('gzip')) {
      head['content-encoding'] = 'gzip';
      this.#gzip = createGzip();
      this.#gzip.pipe(this.response);
    }
    this.response.writeHead(200, head);
  }

  events(events: readonly string[]): void {
    for (const event of events) {
      if (this.#dead) return;
      const { fault } = this;
      if (this.#events === (fault.get('reset-after') ?? fault.get('hang-after') ?? fault.get('half'))) {
        this.#dead = true;
        this.flush();
        this.#breakOff();
        return;
      }
      this.#pending += event;
      this.#events += 1;
    }
  }

  finish(events: readonly string[]): void {
    if (!this.fault.has('half')) this.events(events);
    this.flush();
    if (this.#dead) return;
    this.#dead = true;
    if (this.#gzip !== undefined) this.#gzip.end();
    else this.response.end();
  }

  flush(): void {
    if (this.#pending === '') return;
    const text = this.#pending;
    this.#pending = '';
    if (!this.response.headersSent) this.#open();
    if (this.#gzip === undefined) this.response.write(text);
    else {
      this.#gzip.write(text);
      this.#gzip.flush();
    }
  }

  #breakOff(): void {
    const { fault, response } = this;
    if (fault.has('hang-after')) {
      if (!response.headersSent) this.#open();
      response.flushHeaders();
    } else if (fault.has('half')) response.end();
    else setTimeout(() => response.socket?.resetAndDestroy(), RESET_DELAY_MS).unref();
  }
}

const BODY_BYTES_MAX = 2 ** 26;

/** The whole body as text. @throws ApiError 413 above the limit; rejects when the client leaves. */
export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Keeps an aborted read's request open, so that its refusal can still be sent.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX)
      throw new ApiError(413, `The body exceeds ${BODY_BYTES_MAX} bytes.`, null, { connection: 'close' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws ApiError 400 for anything but a JSON object. */
export function parseObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidBody('The body is not JSON.');
  }
  if (!isObject(value)) throw invalidBody('The body is no JSON object.');
  return value;
}
