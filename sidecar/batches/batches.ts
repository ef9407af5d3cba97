import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { FaultyBatch, problem } from '../../plans/index.js';
import { tenantId, type TenantId } from '../../src/index.js';
import { GatewayError, reasonOf } from '../errors.js';
import { readInput } from './input.js';
import { endOf, isEnded, listed, nameOf, newBatch, outputOf, type BatchObject } from './objects.js';
import { FOLDER_FAULTS, surely, type Disk } from './line-file.js';
import { Pump, type PumpPorts } from './pump.js';
import { Results } from './results.js';
import { Run, type LineAnswer, type LineRequest } from './run.js';
import { Shelf } from './shelf.js';
import { Work, type BatchView, type WorkPorts } from './work.js';

export interface BatchPorts extends PumpPorts, WorkPorts {
  /** Undefined: the gateway is closing, or the line was taken back. */
  readonly ask: (tenant: TenantId, line: LineRequest) => Promise<LineAnswer | undefined>;
  /** The batch has ended, and with it its programs. */
  readonly ended: (tenant: TenantId, id: string) => void;
  /** Whether this gateway alone writes into the folder. */
  readonly isOurs: () => boolean;
  readonly setTimer: (fn: () => void, ms: number) => () => void;
}

/** Ended batches to show. */
const ENDED_MAX = 10;
const TICK_MS = 1000;
const SWEEP_TICKS = 3600;
/** Pause before what a full disk prevents is repeated. */
const DISK_TICKS = 5;
const PREFIX = 't-';
/** How far V8 lets the heap grow between collections; by itself up to 300. Lines make much garbage. */
const GARBAGE_PERCENT = 60;

/** All batches. Those of one tenant are on its shelf; here they are planned, run and ended. */
export class Batches {
  readonly #shelves = new Map<TenantId, Shelf>();
  /** One batch after the other is planned, which bounds the memory. */
  #planning: Promise<unknown> = Promise.resolve();
  #ticks = 0;
  #cancelTick = (): void => undefined;
  /** Wake what waits for room on the disk. */
  readonly #waits: (() => void)[] = [];
  /** Why no answer can be written, as the end of a sentence on the folder; undefined: it can. */
  fault: string | undefined;
  readonly #pump: Pump;
  readonly #disk: Disk;

  private constructor(
    private readonly folder: string,
    private readonly ports: BatchPorts,
  ) {
    this.#disk = { isOurs: ports.isOurs, failed: (error) => this.#failedWrite(error) };
    this.#pump = new Pump(ports);
  }

  /** Takes over the batches of an earlier process. They go on once `start` is called. */
  static async open(folder: string, ports: BatchPorts): Promise<Batches> {
    const batches = new Batches(folder, ports);
    for (const name of await readdir(folder))
      if (name.startsWith(PREFIX)) await batches.shelf(tenantId(name.slice(PREFIX.length))).restore();
    return batches;
  }

  shelf(tenant: TenantId): Shelf {
    const shelf = this.#shelves.get(tenant) ?? new Shelf(tenant, join(this.folder, `${PREFIX}${tenant}`), this.#disk);
    this.#shelves.set(tenant, shelf);
    return shelf;
  }

  async start(): Promise<void> {
    for (const shelf of this.#shelves.values()) for (const { id } of shelf.unfinished) this.#plan(shelf, id);
    await this.#sweep();
    this.#tick();
  }

  /** @throws GatewayError */
  async create(tenant: TenantId, request: Parameters<typeof newBatch>[0]): Promise<BatchObject> {
    const { openMax, bytesMax } = this.ports.config();
    const shelf = this.shelf(tenant);
    const { input_file_id: input } = request;
    const made = newBatch(request, this.#seconds);
    // Checked at its turn: others may be made at the same time.
    const batch = await shelf.change(made.id, () => {
      if (shelf.files.get(input)?.purpose !== 'batch')
        throw new GatewayError(
          'unknown_file',
          `There is no file ${JSON.stringify(input.slice(0, 100))} for a batch: upload it to /v1/files with the purpose batch.`,
          { param: 'input_file_id' },
        );
      if (shelf.unfinished.length >= openMax)
        throw new GatewayError('batches_full', `A tenant may have ${openMax} unfinished batches. Wait, or cancel one.`);
      if (shelf.bytes >= bytesMax)
        throw new GatewayError(
          'files_full',
          `The tenant's files take ${bytesMax} bytes. Delete some of /v1/files first.`,
        );
      return made;
    });
    this.#plan(shelf, batch.id);
    return batch;
  }

  /** The batch with its counts as of now. @throws GatewayError `unknown_batch` */
  shown(shelf: Shelf, id: string): BatchObject {
    const batch = this.#pump.works.get(id)?.batch ?? shelf.batches.get(id);
    if (batch !== undefined) return batch;
    throw new GatewayError('unknown_batch', `There is no batch ${JSON.stringify(id.slice(0, 100))}.`);
  }

  /** A batch of any tenant, if no other one's id begins so. */
  find(beginning: string): { readonly shelf: Shelf; readonly batch: BatchObject } | undefined {
    const [found, ...others] = this.#all().filter(({ batch }) => batch.id.startsWith(beginning));
    return others.length === 0 ? found : undefined;
  }

  /** Batches of all tenants that have ended, the last first. */
  get ended() {
    const ended = this.#all().filter(({ batch }) => isEnded(batch));
    const all = ended.map(({ batch, shelf: { tenant } }) => ({ batch, tenant, endedAt: endOf(batch) }));
    const last = all.reverse().sort((a, b) => b.endedAt - a.endedAt);
    return last.slice(0, ENDED_MAX).map(({ batch, ...rest }) => ({ ...batch, ...rest }));
  }

  #all() {
    return [...this.#shelves.values()].flatMap((shelf) =>
      Array.from(shelf.batches.values(), (batch) => ({ shelf, batch })),
    );
  }

  /** Batches that are planned and not ended, as operators see them. */
  underWay(): BatchView[] {
    return [...this.#pump.works.values()].map(({ view }) => view);
  }

  /** @throws GatewayError `unknown_batch`, `batch_ended` */
  async cancel(tenant: TenantId, id: string): Promise<BatchObject> {
    const shelf = this.shelf(tenant);
    this.shown(shelf, id);
    const at = this.#seconds;
    const { status } = await shelf.change(id, ({ status: before }) =>
      before === 'validating' || before === 'in_progress' ? { status: 'cancelling', cancelling_at: at } : {},
    );
    if (status !== 'cancelling')
      throw new GatewayError('batch_ended', `A batch with the status ${status} cannot be cancelled.`);
    this.#changed(id);
    return this.shown(shelf, id);
  }

  /** Starts no further line. Resolves when nothing is written any more: lines without an answer are asked after the next start. */
  async close(): Promise<void> {
    this.#pump.isStopped = true;
    this.#cancelTick();
    for (const wake of this.#waits.splice(0)) wake();
    await this.#planning;
    await Promise.all([...this.#pump.works.values()].map(({ run, ending }) => ending ?? run.close()));
  }

  get #seconds(): number {
    return Math.floor(this.ports.now() / 1000);
  }

  #plan(shelf: Shelf, id: string): void {
    this.#tuneHeap();
    this.#planning = this.#planning
      .then(() => (this.#pump.isStopped ? undefined : this.#open(shelf, id)))
      .catch(async (err: unknown) => {
        if (this.#pump.isStopped) return;
        const isFaulty = err instanceof FaultyBatch;
        if (!isFaulty) this.ports.log.error({ err, batch: id }, 'batch cannot be read');
        // One with answers stays as it is on the disk, and goes on after the next start.
        if (!isFaulty && this.shown(shelf, id).status !== 'validating') return;
        const data = isFaulty ? err.problems : [problem('internal', 'The gateway could not read the file.', null)];
        const failed = { status: 'failed', failed_at: this.#seconds, errors: listed(data) } as const;
        await surely(this.#disk, () => shelf.change(id, failed)).catch(() => undefined);
        this.#tuneHeap();
      });
  }

  async #open(shelf: Shelf, id: string): Promise<void> {
    const { input_file_id: file, endpoint, status } = this.shown(shelf, id);
    const path = shelf.pathOf(file);
    // One that began was within the limits of then.
    const bounds = status === 'validating' ? {} : { linesMax: Infinity, lineBytes: Infinity };
    const input = await readInput(path, { ...this.ports.config(), ...bounds, endpoint });
    const { output, errors } = outputOf(id);
    const paths = { output: shelf.pathOf(output), errors: shelf.pathOf(errors) };
    const results = await surely(this.#disk, () => Results.open(nameOf(id), input.lines, paths, this.#disk));
    for (const fault of results.broken) this.ports.log.warn({ batch: id }, fault);
    const run = await Run.open(nameOf(id), path, input, results, {
      ask: (line) => this.ports.ask(shelf.tenant, line),
      changed: () => this.#changed(id),
      setTimer: this.ports.setTimer,
    });
    const work = new Work(shelf, id, run, this.ports);
    this.#pump.works.set(id, work);
    const [model = null, ...others] = input.models.keys();
    const begun = {
      status: 'in_progress',
      in_progress_at: this.#seconds,
      model: others.length === 0 ? model : null,
    } as const;
    await surely(this.#disk, () => shelf.change(id, (batch) => (batch.status === 'validating' ? begun : {})));
    this.#changed(id);
  }

  #changed(id: string): void {
    const work = this.#pump.works.get(id);
    if (work?.isOver === true && !this.#pump.isStopped) work.ending ??= this.#conclude(work);
    this.#pump.wake();
  }

  async #conclude(work: Work): Promise<void> {
    const { shelf, id, run } = work;
    const { keepMs } = this.ports.config();
    try {
      const { status, request_counts: counts } = await work.conclude(keepMs, this.#disk);
      this.ports.ended(shelf.tenant, id);
      this.ports.log.info({ batch: id, tenant: shelf.tenant, ...counts }, `batch ${status}`);
    } catch (err) {
      // It stays as it is on the disk, and goes on after the next start.
      this.ports.log.error({ err, batch: id }, 'batch cannot be ended');
    } finally {
      this.#pump.works.delete(id);
      this.#tuneHeap();
      await run.close();
    }
  }

  #tuneHeap(): void {
    const isBusy = [...this.#shelves.values()].some(({ unfinished }) => unfinished.length > 0);
    setFlagsFromString(`--heap-growing-percent=${isBusy ? GARBAGE_PERCENT : 0}`);
  }

  #tick(): void {
    const isIdle = this.ports.engines().length === 0;
    for (const work of this.#pump.works.values()) {
      work.passed(TICK_MS, isIdle);
      this.#changed(work.id);
    }
    this.#pump.renew();
    this.#ticks += 1;
    if (this.#ticks % DISK_TICKS === 0) {
      // All that was woken the last time has been written.
      if (this.#waits.length === 0) this.fault = undefined;
      for (const wake of this.#waits.splice(0)) wake();
    }
    if (this.#ticks % SWEEP_TICKS === 0) void this.#sweep();
    if (!this.#pump.isStopped) this.#cancelTick = this.ports.setTimer(() => this.#tick(), TICK_MS);
  }

  /** Removes files and ended batches that are too old. */
  async #sweep(): Promise<void> {
    const born = this.#seconds - this.ports.config().keepMs / 1000;
    const remove = (shelf: Shelf, id: string): Promise<void> =>
      shelf.remove(id).catch((err: unknown) => {
        this.ports.log.error({ err, id }, 'a file that is too old could not be removed; the next start tries it again');
      });
    for (const shelf of this.#shelves.values()) {
      for (const batch of shelf.batches.values())
        if (isEnded(batch) && batch.created_at < born) await remove(shelf, batch.id);
      for (const file of shelf.files.values())
        if (file.expires_at <= this.#seconds && shelf.readerOf(file.id) === undefined) await remove(shelf, file.id);
    }
  }

  /** A full disk stops the batches alone: what came is kept in memory, and written once there is room. */
  async #failedWrite(err: Error): Promise<boolean> {
    this.ports.log.error({ err }, 'batches cannot be written; the next attempt follows in a moment');
    this.fault = FOLDER_FAULTS[(err as NodeJS.ErrnoException).code ?? ''] ?? `cannot be written: ${reasonOf(err)}`;
    if (!this.#pump.isStopped) await new Promise<void>((wake) => this.#waits.push(wake));
    return !this.#pump.isStopped;
  }
}
