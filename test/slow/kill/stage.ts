import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { exchange } from '../../../bench/soak/exchange.js';
import { setFaults } from '../../../processes/engines.js';
import { readEngines } from '../../../processes/gateway.js';
import { get } from '../../../processes/http.js';
import { Revivable } from '../../../processes/revivable.js';
import { parsePrometheus } from '../../../sidecar/engines/prometheus.js';
import { folderOf } from '../../support/folder.js';
import type { EngineStats, RequestRecord } from '../../../sim/server/stats.js';
import { Ask, makeFrom } from './calls.js';

/** Time within which what was held for someone who is gone must come free. */
export const FREE_MS_MAX = 5000;
const POLL_MS = 10;
/** A token every 20 ms, one call at a time: a second one waits within the engine. */
const PRESET = {
  model: 'kill',
  weightBytes: 1,
  flopsPerToken: 1,
  attentionFlops: 1,
  kvBytesPerToken: 1,
  flopsPerSecond: 1e20,
  bytesPerSecond: 1e20,
  stepOverheadMs: 20,
  sequenceOverheadMs: 0,
  kvTokens: 100_000,
  batchTokens: 100_000,
  slots: 1,
  maxModelLen: 20_000,
};
const WINDOW = 2;
const KEPT_MS = 300;

/** What the gateway holds. */
interface Held {
  readonly calls: number;
  readonly queued: number;
  readonly inFlight: number;
  readonly kept: number;
}

/** Two engines and a gateway, each in a process of its own. */
export class Stage {
  readonly engines: readonly Revivable[];
  readonly gateway: Revivable;
  readonly #folder = folderOf({ 'preset.json': JSON.stringify({ version: 1, preset: PRESET }) });
  #pool: Pool | undefined;

  constructor() {
    const preset = join(this.#folder, 'preset.json');
    this.engines = [1, 2].map((seed) => new Revivable(['engine', '--preset', preset, '--seed', `${seed}`]));
    this.gateway = new Revivable(['serve', '--config', this.#config]);
  }

  get #config(): string {
    return join(this.#folder, 'maitred.json');
  }

  get pool(): Pool {
    return (this.#pool ??= new Pool(this.gateway.url, { headersTimeout: 0, bodyTimeout: 0 }));
  }

  async open(): Promise<void> {
    await Promise.all(this.engines.map((engine) => engine.start()));
    const config = {
      engines: this.engines.map(({ url }, index) => ({ id: `${index}`, url, kind: 'vllm', window: WINDOW })),
      balancer: { name: 'least-loaded' },
      admission: { gate: 0, batching: 'none' },
      timeouts: { ghostMs: KEPT_MS },
      health: { intervalMs: 100, backoffMs: 50, backoffMsMax: 200 },
    };
    writeFileSync(this.#config, JSON.stringify(config));
    await this.gateway.start();
    await this.ready();
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
    await Promise.all([this.gateway, ...this.engines].map((each) => each.kill()));
  }

  /** Gives the engines calls until both take as many as they may: one that is back gets one at a time at first. */
  async ready(): Promise<void> {
    await this.until('both engines are up', async () => {
      const states = (await readEngines(this.gateway.url)).map(({ state }) => state);
      if (states.includes('probation')) await Promise.all(makeFrom(this.pool)('', [new Ask(1), new Ask(1)]).answers);
      return states.every((state) => state === 'up');
    });
    await this.empty();
  }

  /** Waits until the gateway holds nothing for anyone. Returns how long that took. */
  empty(): Promise<number> {
    return this.until('the gateway holds nothing', async () => {
      const { calls, queued, inFlight, kept } = await this.held();
      return calls + queued + inFlight + kept === 0;
    });
  }

  /** Waits until the engines run nothing and nothing waits in them. Returns how long that took. */
  idle(): Promise<number> {
    return this.until('the engines are idle', async () => (await this.load()) === 0);
  }

  /** Calls that the engines run, and that wait in them. */
  async load(): Promise<number> {
    const stats = await Promise.all(this.engines.map((engine) => this.stats(engine)));
    return stats.reduce((sum, { running, waiting }) => sum + running + waiting, 0);
  }

  async held(): Promise<Held> {
    const [calls = NaN, queued = NaN, inFlight = NaN, kept = NaN] = await this.#metrics(
      'maitred_calls_in_system',
      'maitred_queue_calls',
      'maitred_engine_in_flight_calls',
      'maitred_kept_places',
    );
    return { calls, queued, inFlight, kept };
  }

  /** Sockets, listeners and whatever else the gateway holds open, without those of the clients here. */
  async handles(): Promise<number> {
    await this.#pool?.destroy();
    this.#pool = undefined;
    await this.empty();
    return (await this.#metrics('nodejs_active_handles'))[0] ?? NaN;
  }

  async #metrics(...names: string[]): Promise<number[]> {
    const samples = parsePrometheus(await get(`${this.gateway.url}/metrics`), new Set(names));
    return names.map((name) => (samples.get(name) ?? []).reduce((sum, { value }) => sum + value, 0));
  }

  async stats({ url }: Revivable): Promise<EngineStats> {
    return JSON.parse(await get(`${url}/sim/stats`)) as EngineStats;
  }

  /** What the engines that live know of a call. */
  async recordsOf({ id }: Ask): Promise<RequestRecord[]> {
    const living = this.engines.filter(({ pid }) => !Number.isNaN(pid));
    const stats = await Promise.all(living.map((engine) => this.stats(engine)));
    return stats.flatMap(({ records }) => records.filter(({ headers }) => headers['x-request-id'] === id));
  }

  /** Events of an answer, its end included, when each token is an event. */
  async eventsOf(words: number): Promise<number> {
    const { url } = this.engines[0]!;
    const pool = new Pool(url);
    const { headers, body } = new Ask(words);
    const asked = JSON.stringify({ ...(JSON.parse(body) as object), stream_options: { include_usage: true } });
    const all = { ...headers, 'x-sim-fault': 'slow=0' };
    const { events } = await exchange(
      pool,
      { path: '/v1/chat/completions', headers: all, body: asked },
      { silenceMsMax: 10_000 },
    );
    await pool.close();
    return events;
  }

  async faults(faults?: object): Promise<void> {
    await Promise.all(this.engines.map(({ url }) => setFaults(url, faults)));
  }

  /** Asks until it is so; milliseconds that it took. @throws Error when it takes too long */
  async until(title: string, isSo: () => boolean | Promise<boolean>): Promise<number> {
    const beganAt = performance.now();
    while (!(await isSo())) {
      if (performance.now() - beganAt > 3 * FREE_MS_MAX) throw new Error(`it does not come to this: ${title}`);
      await sleep(POLL_MS);
    }
    return performance.now() - beganAt;
  }
}
