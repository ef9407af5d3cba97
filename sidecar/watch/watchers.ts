import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../errors.js';
import { requestIdOf } from '../http/headers.js';
import { SSE_HEADERS } from '../http/sse.js';

/** Parts of the state by name, as JSON. */
export type Sections = Readonly<Record<string, string>>;

/** One look at the state, for any number of views. */
export interface Look<View> {
  readonly sections: (view: View) => Promise<Sections>;
  /** Time that it has kept the process busy. */
  readonly busyMs: () => number;
}

export interface WatchPorts<View> {
  readonly look: () => Look<View>;
  readonly watchersMax: () => number;
  /** Identifies this process in the ids of events. */
  readonly instance: string;
  /** The state could not be read; the clients of that look are dropped. */
  readonly failed: (error: unknown) => void;
}

/** Least time between two updates. They come less often where looks would take more than this share of the time. */
const INTERVAL_MS = 1000;
const BUSY_SHARE = 0.02;
/** A client that has not taken the last update by then is dropped. */
const STALLED_MS_MAX = 30_000;

/** A comment, by which clients and proxies see that the connection lives. */
const ALIVE = ':\n\n';

interface Watcher<View> {
  readonly view: View;
  readonly response: ServerResponse;
  /** The client's present state, by section. */
  readonly sent: Map<string, string>;
  takenAtMs: number;
}

/**
 * Clients that watch the state as server-sent events: each gets all of it, then what has changed, once a second. A slow one
 * gets fewer updates, never a queue of them.
 */
export class Watchers<View> {
  readonly #watchers = new Set<Watcher<View>>();
  #timer: NodeJS.Timeout | undefined;
  /** Whether an update is under way, and the earliest time of the next one. */
  #isLooking = false;
  #nextLookMs = 0;
  #count = 0;

  constructor(private readonly ports: WatchPorts<View>) {}

  get size(): number {
    return this.#watchers.size;
  }

  /** @throws GatewayError `watchers_full` when too many watch */
  add(request: IncomingMessage, response: ServerResponse, view: View): void {
    if (this.size >= this.ports.watchersMax())
      throw new GatewayError('watchers_full', 'Too many pages are open. Raise limits.watchersMax.');
    response.writeHead(200, {
      ...SSE_HEADERS,
      'cache-control': 'no-store',
      'x-request-id': requestIdOf(request),
      'x-maitred-reason': 'admin',
    });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const watcher = { view, response, sent: new Map<string, string>(), takenAtMs: performance.now() };
    this.#watchers.add(watcher);
    response.on('error', () => undefined);
    response.once('close', () => this.#watchers.delete(watcher));
    void this.#update([watcher]);
    this.#timer ??= setInterval(() => void this.#tick(), INTERVAL_MS);
  }

  /** Ends all streams; their clients may come again. */
  close(): void {
    for (const { response } of this.#watchers) response.end();
    this.#watchers.clear();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #tick(): Promise<void> {
    if (this.size === 0) return this.close();
    const now = performance.now();
    for (const watcher of this.#watchers) {
      if (watcher.response.writableLength === 0) watcher.takenAtMs = now;
      else if (now - watcher.takenAtMs > STALLED_MS_MAX) watcher.response.destroy();
    }
    // A client that waits for its first update already has one under way.
    const ready = [...this.#watchers].filter(({ response, sent }) => response.writableLength === 0 && sent.size > 0);
    if (ready.length === 0 || this.#isLooking || now < this.#nextLookMs)
      return ready.forEach(({ response }) => response.write(ALIVE));
    this.#isLooking = true;
    this.#nextLookMs = now + (await this.#update(ready)) / BUSY_SHARE;
    this.#isLooking = false;
  }

  async #update(watchers: readonly Watcher<View>[]): Promise<number> {
    const look = this.ports.look();
    try {
      await Promise.all(watchers.map(async (watcher) => this.#send(watcher, await look.sections(watcher.view))));
    } catch (error) {
      for (const { response } of watchers) response.destroy();
      this.ports.failed(error);
    }
    return look.busyMs();
  }

  #send({ response, sent }: Watcher<View>, sections: Sections): void {
    if (response.writableEnded || response.destroyed) return;
    let text = '';
    for (const [name, json] of Object.entries(sections)) {
      if (sent.get(name) === json) continue;
      sent.set(name, json);
      text += `event: ${name}\ndata: ${json}\n\n`;
    }
    response.write(text === '' ? ALIVE : `id: ${this.ports.instance}-${++this.#count}\n${text}`);
  }
}
