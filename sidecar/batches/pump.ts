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
 * Starts the lines of all batches: of several tenants, the one with the fewest under way goes first. Each engine takes its
 * own part of a batch's order, and once that has no line ready, the others' from the end.
 */
export class Pump {
  readonly works = new Map<string, Work>();
  /** The parts of lines that wait. */
  readonly #waiting = new Set<Part>();
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

  #startNext(): boolean {
    const works = [...this.works.values()];
    const inFlight = new Map<TenantId, number>();
    const of = ({ shelf }: Work): number => inFlight.get(shelf.tenant) ?? 0;
    for (const work of works) inFlight.set(work.shelf.tenant, of(work) + work.run.inFlight);
    const all = works.reduce((sum, { run }) => sum + run.inFlight, 0);
    const ready = works.filter(({ run, ending }) => run.isReady && ending === undefined);
    const [work] = ready.sort((a, b) => of(a) - of(b));
    const part = this.#part();
    if (this.isStopped || work === undefined || part === undefined || all >= this.ports.config().inFlightMax)
      return false;
    this.#start(work, part);
    return true;
  }

  /** The part whose engine has the fewest lines waiting; undefined: all have enough. */
  #part(): Part | undefined {
    const up = this.ports.engines();
    const parts = up.length < 2 ? [WHOLE] : up.map((engine, at) => ({ engine, at, of: up.length }));
    const of = (part: Part): number => [...this.#waiting].filter(({ engine }) => engine === part.engine).length;
    const least = parts.reduce((best, each) => (of(each) < of(best) ? each : best));
    return of(least) < Math.max(WAITING_MIN, WAITING_MAX / parts.length) ? least : undefined;
  }

  #start(work: Work, part: Part): void {
    // Each line has a part of its own, though some are equal.
    const waiting = { ...part };
    this.#waiting.add(waiting);
    const entered = (): void => {
      if (this.#waiting.delete(waiting)) this.wake();
    };
    void work.run.startNext(entered, part).then((fault) => {
      if (fault !== undefined) this.ports.log.error({ err: fault, batch: work.id }, 'a line of a batch failed here');
      entered();
    });
  }
}
