import { Pool } from 'undici';
import type { Tls } from './address.js';
import type { SetTimer } from './fleet.js';
import { METRICS_CHARS_MAX } from './prometheus.js';

/** Most connections for probes of one engine. */
const CONNECTIONS = 4;

export interface Answer {
  readonly status: number;
  /** Empty unless the status is 2xx. */
  readonly text: string;
  /** The server's `Date`. */
  readonly date: string | undefined;
}

export interface ProberOptions {
  readonly url: URL;
  readonly basePath: string;
  readonly tls: Tls;
  readonly apiKey: string | undefined;
  /** Time limit of one request, up to the last byte. */
  readonly timeoutMs: number;
  readonly connectMs: number;
  readonly setTimer: SetTimer;
}

/** Sends probes to an engine over separate connections, so that a probe never waits behind a thousand streams. */
export class Prober {
  readonly #options: ProberOptions;
  readonly #pool: Pool;

  constructor(options: ProberOptions) {
    this.#options = options;
    this.#pool = new Pool(options.url.origin, {
      connections: CONNECTIONS,
      connectTimeout: options.connectMs,
      connect: options.tls,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: METRICS_CHARS_MAX,
    });
  }

  /** Rejects if the engine refuses, breaks off, takes too long or answers too much. */
  get(path: string): Promise<Answer> {
    return this.#ask(path, undefined);
  }

  /** Posts JSON; rejects as `get` does. */
  post(path: string, body: object): Promise<Answer> {
    return this.#ask(path, body);
  }

  async #ask(path: string, sent: object | undefined): Promise<Answer> {
    const { basePath, apiKey, timeoutMs, setTimer } = this.#options;
    const timeout = new AbortController();
    const cancelTimer = setTimer(() => timeout.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    try {
      const { statusCode, headers, body } = await this.#pool.request({
        method: sent === undefined ? 'GET' : 'POST',
        path: basePath + path,
        headers: {
          accept: '*/*',
          ...(sent !== undefined && { 'content-type': 'application/json' }),
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        },
        ...(sent !== undefined && { body: JSON.stringify(sent) }),
        signal: timeout.signal,
      });
      const date = typeof headers.date === 'string' ? headers.date : undefined;
      if (isOk(statusCode)) return { status: statusCode, text: await body.text(), date };
      await body.dump();
      return { status: statusCode, text: '', date };
    } finally {
      cancelTimer();
    }
  }

  /** Aborts requests in progress. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

export function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}
