import { Pool } from 'undici';
import { span } from '../../text/index.js';
import type { EngineConfig } from '../config/index.js';
import { addressOf, connectionOf } from './address.js';
import type { SetTimer } from './engine.js';
import { METRICS_BYTES_MAX } from './prometheus.js';

const CONNECTIONS = 4;

export type Answer = Awaited<ReturnType<Prober['ask']>>;

export interface ProberOptions {
  /** Time limit of one request, up to the last byte. */
  readonly timeoutMs: number;
  readonly connectMs: number;
  readonly setTimer: SetTimer;
}

/** Sends probes to an engine over separate connections, so that a probe never waits behind a thousand streams. */
export class Prober {
  readonly #basePath: string;
  readonly #pool: Pool;

  constructor(
    /** Its key may change. */
    private readonly engine: { readonly config: EngineConfig },
    private readonly options: ProberOptions,
  ) {
    const { config } = engine;
    const { url, basePath } = addressOf(config);
    this.#basePath = basePath;
    const own = { connections: CONNECTIONS, maxResponseSize: METRICS_BYTES_MAX };
    this.#pool = new Pool(url.origin, { ...own, ...connectionOf(config, options.connectMs) });
  }

  /** Rejects if the engine refuses, breaks off, is late or says too much. The text is empty unless the status is 2xx. @param sent posted as JSON; absent: a GET */
  async ask(path: string, sent?: object, timeoutMs = this.options.timeoutMs) {
    const { apiKey } = this.engine.config;
    const timeout = new AbortController();
    const late = new DOMException(`no answer within ${span(timeoutMs)}`, 'TimeoutError');
    const cancelTimer = this.options.setTimer(() => timeout.abort(late), timeoutMs);
    try {
      const { statusCode, headers, body } = await this.#pool.request({
        method: sent === undefined ? 'GET' : 'POST',
        path: this.#basePath + path,
        headers: {
          accept: '*/*',
          ...(sent !== undefined && { 'content-type': 'application/json' }),
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        },
        ...(sent !== undefined && { body: JSON.stringify(sent) }),
        signal: timeout.signal,
      });
      const about = {
        status: statusCode,
        /** Whether a gateway such as this one answered. */
        isGateway: headers['x-maitred-reason'] !== undefined,
        /** Whether it is a page for people. */
        isPage: /^text\/html/i.test(String(headers['content-type'])),
      };
      if (isOk(statusCode)) return { ...about, text: await body.text() };
      await body.dump();
      return { ...about, text: '' };
    } finally {
      cancelTimer();
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

export const isOk = (status: number): boolean => status >= 200 && status < 300;
