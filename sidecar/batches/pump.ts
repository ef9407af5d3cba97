import type { Logger } from 'pino';
import type { EngineId, TenantId } from '../../src/index.js';
import type { Config } from '../config/index.js';
import { WHOLE, type Part } from './run.js';
import type { Work } from './work.js';

export interface PumpPorts {
  readonly config: () => Config['batches'];
  /** Engines that are up, in a steady order. */
  readonly engines: () => readonly EngineId[];
  readonly log: Logger;
}

/** Lines that wait in the gateway's queue at once: for each engine, and in all where engines are few. */
const WAITING_MIN = 2;
const WAITING_MAX = 16;

/**
 * Starts the lines of all batches: late batches go first, then the tenant with the fewest lines under way, then the batch
 * whose window ends first. Each engine takes its own part of a batch's order, and once that has no line ready, the others'
 * from the end. Lines that take only the room that others leave hold no place that a late batch needs.
 */
export class Pump {
  readonly works = new Map<string, Work>();
  /** Lines that wait. */
  readonly #waiting = new Set<Part & { readonly work: Work }>();
  #isWoken = false;
  isStopped = false;

  constructor(private readonly ports: PumpPorts) {}

  /** Lines may start now. */
  wake(): void {
    if (this.#isWoken || this.works.size === 0) return;
    this.#isWoken = true;
    setImmediate(() => {
      this.#isWoken = false;
      while (this.#startNext());
    });
  }

  /** Lines are asked anew: as calls like all others once their batch is late, of other engines once theirs is down. */
  renew(): void {
    const up = this.ports.engines();
    const isOld = ({ isLate, engine, work }: Part & { readonly work: Work }) =>
      (!isLate && work.isLate) || (engine !== undefined && !up.includes(engine));
    for (const { run } of new Set([...this.#waiting].filter(isOld).map(({ work }) => work))) run.recall();
  }

  #startNext(): boolean {
    const works = [...this.works.values()];
    const inFlight = new Map<TenantId, number>();
    const of = ({ shelf }: Work): number => inFlight.get(shelf.tenant) ?? 0;
    for (const work of works) inFlight.set(work.shelf.tenant, of(work) + work.run.inFlight);
    const [work] = works
      .filter(({ run, ending }) => run.isReady && ending === undefined)
      .sort((a, b) => Number(b.isLate) - Number(a.isLate) || of(a) - of(b) || a.expiresAt - b.expiresAt);
    if (this.isStopped || work === undefined) return false;
    const { isLate } = work;
    const sum = (all: readonly Work[]): number => all.reduce((lines, { run }) => lines + run.inFlight, 0);
    const rivals = sum(works.filter((each) => each.isLate || !isLate));
    const part = this.#part(isLate);
    const { inFlightMax } = this.ports.config();
    // Batches that are late no longer may hold places too.
    if (part === undefined || rivals >= inFlightMax || sum(works) >= 2 * inFlightMax) return false;
    this.#start({ ...part, isLate, work });
    return true;
  }

  /** The part whose engine has the fewest lines waiting; undefined: all have enough. */
  #part(isLate: boolean): Omit<Part, 'isLate'> | undefined {
    const up = this.ports.engines();
    const parts = up.length < 2 ? [WHOLE] : up.map((engine, at) => ({ engine, at, of: up.length }));
    const waiting = [...this.#waiting].filter((each) => each.isLate || !isLate);
    const of = (part: Pick<Part, 'engine'>): number => waiting.filter(({ engine }) => engine === part.engine).length;
    const least = parts.reduce((best, each) => (of(each) < of(best) ? each : best));
    return of(least) < Math.max(WAITING_MIN, WAITING_MAX / parts.length) ? least : undefined;
  }

  #start(line: Part & { readonly work: Work }): void {
    const waits = (isWaiting: boolean): void => {
      if (isWaiting) this.#waiting.add(line);
      else if (this.#waiting.delete(line)) this.wake();
    };
    waits(true);
    const { run, id } = line.work;
    void run.startNext(waits, line).then((fault) => {
      if (fault !== undefined) this.ports.log.error({ err: fault, batch: id }, 'a line of a batch failed here');
      waits(false);
    });
  }
}
