import { once } from 'node:events';
import { accessSync, constants, lstatSync, mkdtempSync, rmdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { Server } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import type { RedisState } from '../../cluster/index.js';
import { ConfigError, type Config } from '../config/index.js';
import type { SetTimer } from '../engines/index.js';
import { reasonOf } from '../errors.js';
import { Batches, type BatchPorts } from './batches.js';
import { claimOf } from './claim.js';
import { FOLDER_FAULTS } from './line-file.js';

/** Name of the batches at the store of a cluster. */
const NAME = 'batches';

export interface SeatPorts {
  readonly folder: string;
  /** The place of this gateway in a cluster; undefined: it is alone. */
  readonly cluster:
    | (Pick<Config['cluster'], 'address' | 'leaseMs' | 'heartbeatMs'> & { readonly store: Pick<RedisState, 'hold'> })
    | undefined;
  readonly batches: Omit<BatchPorts, 'isOurs'>;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  readonly setTimer: SetTimer;
}

/**
 * Which gateway has the batches of a folder: alone always this one, in a cluster the one that holds a lease.
 *
 *     elsewhere ──its lease ends──> here        takes over what is in the folder, as after a crash
 *     here ──lease not renewed in time──> elsewhere: writes nothing more; lines under way are asked again there
 */
export class BatchSeat {
  #batches: Batches | undefined;
  /** URL of the gateway that has them; undefined: none is known. */
  holder: string | undefined;
  #untilMs: number;
  /** The heartbeat under way, and what is lost and still closing. */
  #beating: Promise<void> = Promise.resolve();
  #lost: Promise<unknown> = Promise.resolve();
  #claim: Server | undefined;
  #isStarted = false;
  #leaving: Promise<void> | undefined;
  #cancel = (): void => undefined;

  private constructor(private readonly ports: SeatPorts) {
    this.#untilMs = ports.cluster === undefined ? Infinity : -Infinity;
  }

  /** @throws ConfigError if the folder cannot be used; Error if this gateway is alone and what is in it cannot be read */
  static async open(ports: SeatPorts): Promise<BatchSeat> {
    const seat = new BatchSeat(ports);
    const fault = folderFault(ports.folder);
    if (fault !== undefined) throw unfit(fault);
    await mkdir(ports.folder, { recursive: true }).catch((error: unknown) => {
      throw unfit(`cannot be made: ${reasonOf(error)}`);
    });
    if (ports.cluster === undefined) seat.#claim = await claimOf(ports.folder, TAKEN);
    if (ports.cluster === undefined) await seat.#take();
    else await (seat.#beating = seat.#beat());
    return seat;
  }

  /** Undefined: another gateway has them, or none. */
  get batches(): Batches | undefined {
    return this.#isOurs() ? this.#batches : undefined;
  }

  async start(): Promise<void> {
    this.#isStarted = true;
    await this.#batches?.start();
  }

  /** Starts no further line. In a cluster, another gateway goes on as soon as the lines that engines have here have ended. */
  leave(): Promise<void> {
    return (this.#leaving ??= this.#leave());
  }

  async close(): Promise<void> {
    await this.leave();
    if (this.#claim !== undefined) await once(this.#claim.close(), 'close');
  }

  async #leave(): Promise<void> {
    const { cluster } = this.ports;
    await this.#beating;
    // Heartbeats go on meanwhile, as these lines are written only with the lease.
    await Promise.all([this.#batches?.close(), this.#lost]);
    if (cluster === undefined) return;
    // From now on nothing is written here.
    this.#batches = undefined;
    this.#cancel();
    await this.#beating;
    if (this.#isOurs()) await cluster.store.hold(NAME, '', 0);
  }

  #isOurs(): boolean {
    return this.ports.now() < this.#untilMs;
  }

  async #take(): Promise<void> {
    // Batches that were taken before, and lost, write nothing more.
    const isOurs = (): boolean => this.batches === batches;
    const batches: Batches = await Batches.open(this.ports.folder, { ...this.ports.batches, isOurs });
    this.#batches = batches;
    if (this.#isStarted) await batches.start();
  }

  async #beat(): Promise<void> {
    const { cluster, now, setTimer, batches } = this.ports;
    if (cluster === undefined) return;
    const atMs = now();
    try {
      const held = await cluster.store.hold(NAME, cluster.address ?? '', cluster.leaseMs);
      if (held !== undefined) this.holder = held.isOwn ? undefined : held.value;
      if (held?.isOwn === true) this.#untilMs = atMs + cluster.leaseMs;
      else if (held !== undefined) this.#untilMs = -Infinity;
      if (this.#batches !== undefined && !this.#isOurs()) {
        batches.log.warn('another gateway runs the batches now');
        this.#lost = Promise.all([this.#lost, this.#batches.close().catch(() => undefined)]);
        this.#batches = undefined;
      }
      if (this.#batches === undefined && this.#isOurs() && this.#leaving === undefined) {
        batches.log.info('this gateway runs the batches now');
        await this.#take();
      }
    } catch (err) {
      batches.log.error({ err }, 'batches cannot be taken over; the next attempt follows');
    }
    if (this.#leaving !== undefined && this.#batches === undefined) return;
    this.#cancel = setTimer(() => void (this.#beating = this.#beat()), cluster.heartbeatMs);
  }
}

/** Why the folder, or the nearest above it that is there, takes no new one, and a remedy; undefined: it does. */
export function folderFault(folder: string): string | undefined {
  let place = resolve(folder);
  while (!isThere(place)) place = dirname(place);
  try {
    accessSync(place, constants.R_OK);
    rmdirSync(mkdtempSync(join(place, '.maitred-')));
    return undefined;
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'takes no new folder' : (FOLDER_FAULTS[code] ?? `cannot be used: ${message}`);
    return `${place} ${why}: name another folder, or let this user write there`;
  }
}

/** Also a link to nothing. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

const unfit = (message: string) => new ConfigError([{ path: 'batches.folder', message }]);

const TAKEN = unfit(
  'another gateway of this machine uses it; gateways that share one need a cluster (docs/CLUSTER.md)',
);
