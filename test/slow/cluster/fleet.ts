import { Redis } from 'ioredis';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, Revivable } from '../../../processes/process.js';
import { chat, cleanUp, until } from '../../sidecar/gateway/world.js';
import { folderOf } from '../../support/folder.js';
import { RedisServer } from '../../../processes/redis.js';
import { UnixProxy } from '../../support/unix-proxy.js';
import { withClockOff } from './clocks.js';
import { clusterOf, configOf, PATIENCE_MS, question, withinWindows, type ClusterRow, type Counted } from './counted.js';

export const GATEWAYS = 3;
const LEASE_MS = 3000;
/** Some calls outlast the lease of a gateway that is cut off. */
const LONG_MS = 4000;
const LONG_EVERY = 40;
const CLIENTS = 24;

/** What came of a load. */
export interface Heard {
  /** Calls whose socket died with their gateway: their clients have asked another one. */
  broken: number;
  /** Statuses other than 200; 0: the connection broke, of a gateway that lives. */
  readonly failed: number[];
}

/** Three gateways in processes of their own, each with its own way to their store, in front of two engines. */
export class Fleet {
  readonly gateways: Revivable[] = [];
  readonly proxies: UnixProxy[] = [];
  store!: RedisServer;
  #storePort = 0;
  #hasStopped = false;
  /** Every gateway loses its connection to the store after that. */
  #lostAtMs = -Infinity;
  readonly #folder = folderOf({});

  /** @param clocksMs how far each gateway's wall clock is off */
  static async start(engines: readonly Counted[], clocksMs: readonly number[] = []): Promise<Fleet> {
    const fleet = new Fleet(clocksMs);
    cleanUp(() => fleet.#stop());
    await fleet.#start(engines);
    return fleet;
  }

  private constructor(private readonly clocksMs: readonly number[]) {}

  async #start(engines: readonly Counted[]): Promise<void> {
    this.#storePort = await freePort();
    this.store = await RedisServer.start(['--port', `${this.#storePort}`]);
    for (let i = 0; i < GATEWAYS; i += 1) {
      const proxy = await UnixProxy.open(join(this.#folder, `store-${i}.sock`), this.store.path);
      this.proxies.push(proxy);
      const file = join(this.#folder, `g${i}.json`);
      const config = configOf(engines, proxy.path, `g${i}`, LEASE_MS, { gateways: GATEWAYS });
      writeFileSync(file, JSON.stringify({ ...config, health: { timeoutMs: 60_000 } }));
      const gateway = new Revivable(['serve', '--config', file]);
      this.gateways.push(gateway);
      await withClockOff(this.clocksMs[i] ?? 0, () => gateway.start());
    }
    await this.healed();
  }

  get urls(): string[] {
    return this.gateways.map(({ url }) => url);
  }

  /** All gateways that live say so, and how many they count. */
  async stand(
    wanted: 'shared' | 'split',
    live: number,
    isSo: (row: ClusterRow) => boolean = () => true,
  ): Promise<void> {
    const alive = this.gateways.filter(({ pid }) => !Number.isNaN(pid));
    await until(async () => {
      const rows = await Promise.all(alive.map(({ url }) => clusterOf(url)));
      return rows.every((row) => row.standing === wanted && row.live === live && isSo(row));
    }, PATIENCE_MS);
  }

  /** One gateway has noticed that it is alone. */
  split = (index: number): Promise<void> =>
    until(async () => (await clusterOf(this.urls[index]!)).standing === 'split', PATIENCE_MS);

  /** Operations of the store that failed or were late so far, of each gateway. */
  failures = (): Promise<number[]> => Promise.all(this.urls.map(async (url) => (await clusterOf(url)).failures));

  /** All share again, and none counts on slots that others have. */
  async healed(): Promise<void> {
    const isBack = ({ standing_seconds }: ClusterRow) => performance.now() - 1000 * standing_seconds > this.#lostAtMs;
    await this.stand('shared', GATEWAYS, isBack);
    await withinWindows(this.urls);
  }

  /**
   * Runs clients, each with its program, until told to end. A client whose gateway dies asks another one.
   * @returns ends it
   */
  load(): () => Promise<Heard> {
    const heard: Heard = { broken: 0, failed: [] };
    let isOver = false;
    const ended = () => isOver || this.#hasStopped;
    const clients = Promise.all(Array.from({ length: CLIENTS }, (_, client) => this.#client(client, ended, heard)));
    return async () => {
      isOver = true;
      await clients;
      return heard;
    };
  }

  async #client(client: number, isOver: () => boolean, heard: Heard): Promise<void> {
    const headers = { 'x-maitred-program': `p${client}` };
    for (let i = client; !isOver(); i += 1) {
      const text = i % LONG_EVERY === 0 ? `${client} ${i} takes ${LONG_MS} ms` : `${client} ${i}`;
      for (let way = (i * (client + 1)) % GATEWAYS; !this.#hasStopped; way = (way + 1) % GATEWAYS) {
        const gateway = this.gateways[way]!;
        const { pid } = gateway;
        if (Number.isNaN(pid)) continue;
        const status = await chat(gateway.url, question(text), headers).then(
          (got) => got.status,
          () => 0,
        );
        if (status === 0 && gateway.pid !== pid) {
          heard.broken += 1;
          continue;
        }
        if (status !== 200) heard.failed.push(status);
        break;
      }
    }
  }

  /** The store ends, and begins again empty. */
  async restart(): Promise<void> {
    this.#lostAtMs = performance.now();
    await this.store.kill();
    await this.store.start();
  }

  /** A replica of the store takes its place, without what was written in the last while. */
  async promote(lostMs: number): Promise<void> {
    const port = await freePort();
    const replica = await RedisServer.start(['--port', `${port}`, '--replicaof', `127.0.0.1 ${this.#storePort}`]);
    const admin = new Redis(replica.path);
    await until(async () => (await admin.info('replication')).includes('master_link_status:up'));
    await admin.replicaof('NO', 'ONE');
    admin.disconnect();
    await sleep(lostMs);
    this.#lostAtMs = performance.now();
    const former = this.store;
    this.store = replica;
    this.#storePort = port;
    await former.stop();
    for (const proxy of this.proxies) proxy.lead(replica.path);
  }

  async #stop(): Promise<void> {
    this.#hasStopped = true;
    await Promise.all(this.gateways.map((gateway) => gateway.kill()));
    for (const proxy of this.proxies) proxy.close();
    await this.store.stop();
  }
}
