import type { TenantId } from '../../src/index.js';
import type { Run } from './run.js';
import type { Shelf } from './shelf.js';

/** A batch that is planned and not ended. */
export interface Work {
  readonly shelf: Shelf;
  readonly id: string;
  readonly run: Run;
  /** When it was taken up, in milliseconds since 1970, and its pending lines then. */
  readonly since: { readonly atMs: number; readonly pending: number };
  /** Undefined: under way. */
  ending?: Promise<void>;
}

/** Lines that wait in the gateway's queue at once: enough that one finds its engine while another waits for its own. */
const WAITING_MAX = 16;

/** Starts the lines of all batches: of several tenants, the one with the fewest under way goes first. */
export class Pump {
  readonly works = new Map<string, Work>();
  #waiting = 0;
  #isWoken = false;
  #isStopped = false;

  /** @param failed hears of faults here */
  constructor(
    private readonly inFlightMax: () => number,
    private readonly failed: (work: Work, fault: unknown) => void,
  ) {}

  /** Lines may start now. */
  wake(): void {
    if (this.#isWoken || this.works.size === 0) return;
    this.#isWoken = true;
    setImmediate(() => {
      this.#isWoken = false;
      while (this.#startNext());
    });
  }

  /** Starts no further line. */
  stop(): void {
    this.#isStopped = true;
  }

  #startNext(): boolean {
    const inFlight = new Map<TenantId, number>();
    let all = 0;
    for (const { shelf, run } of this.works.values()) {
      inFlight.set(shelf.tenant, (inFlight.get(shelf.tenant) ?? 0) + run.inFlight);
      all += run.inFlight;
    }
    if (this.#isStopped || this.#waiting >= WAITING_MAX || all >= this.inFlightMax()) return false;
    const of = ({ shelf }: Work): number => inFlight.get(shelf.tenant) ?? 0;
    const fit = [...this.works.values()].filter(({ run, ending }) => run.isReady && ending === undefined);
    const [first, ...others] = fit;
    if (first === undefined) return false;
    this.#start(others.reduce((best, each) => (of(each) < of(best) ? each : best), first));
    return true;
  }

  #start(work: Work): void {
    let isWaiting = true;
    const entered = (): void => {
      if (!isWaiting) return;
      isWaiting = false;
      this.#waiting -= 1;
      this.wake();
    };
    this.#waiting += 1;
    void work.run.startNext(entered).then((fault) => {
      if (fault !== undefined) this.failed(work, fault);
      entered();
    });
  }
}
