import { LRUCache } from 'lru-cache';
import type { CallId, EngineId, WaitView } from '../../src/index.js';

/** The time within which half of such waits have ended, and nine of ten. */
export interface ExpectedWait {
  readonly p50Ms: number;
  readonly p90Ms: number;
}

interface Place {
  readonly engine: EngineId;
  readonly ahead: number;
  readonly atMs: number;
}

interface Watched {
  readonly sinceMs: number;
  readonly places: Place[];
}

/** Ended waits that an engine is judged by, and the fewest that tell anything. */
const KEPT = 256;
const KNOWN_MIN = 32;
/** Engines that are remembered, also of those that have left. */
const ENGINES_MAX = 1000;
/** Shorter waits end before anybody asks. */
const WAITED_MS_MIN = 5000;

/**
 * Learns how long calls wait for each place that they stand back in line: the spread over the last waits that ended, since
 * later calls of better levels pass some, and others come earlier than the line says.
 */
export class ExpectedWaits {
  readonly #watched = new Map<CallId, Watched>();
  readonly #msPerPlace = new LRUCache<EngineId, number[]>({ max: ENGINES_MAX });

  /** Looks at the waiting calls. Each counts again once it has waited twice as long, so that long waits do not prevail. */
  observe(waits: Iterable<readonly [CallId, WaitView]>, nowMs: number): void {
    for (const [call, { engine, ahead, background }] of waits) {
      if (engine === undefined || background) continue;
      let watched = this.#watched.get(call);
      if (watched === undefined) this.#watched.set(call, (watched = { sinceMs: nowMs, places: [] }));
      const lastMs = (watched.places.at(-1)?.atMs ?? watched.sinceMs) - watched.sinceMs;
      if (nowMs - watched.sinceMs >= Math.max(WAITED_MS_MIN, 2 * lastMs)) watched.places.push({ engine, ahead, atMs: nowMs }); // prettier-ignore
    }
  }

  dispatched(call: CallId, nowMs: number): void {
    for (const { engine, ahead, atMs } of this.#watched.get(call)?.places ?? []) {
      const known = this.#msPerPlace.get(engine) ?? [];
      known.push((nowMs - atMs) / (ahead + 1));
      if (known.length > KEPT) known.shift();
      this.#msPerPlace.set(engine, known);
    }
    this.#watched.delete(call);
  }

  /** The call has ended without an engine. */
  left(call: CallId): void {
    this.#watched.delete(call);
  }

  /** Undefined: too few waits at its engine have ended, or nobody waits for the call. */
  of({ engine, ahead, background }: WaitView): ExpectedWait | undefined {
    const known = engine === undefined || background ? [] : (this.#msPerPlace.get(engine) ?? []);
    if (known.length < KNOWN_MIN) return undefined;
    const sorted = Float64Array.from(known).sort();
    const within = (share: number) => (ahead + 1) * (sorted[Math.floor(share * sorted.length)] as number);
    return { p50Ms: within(0.5), p90Ms: within(0.9) };
  }
}
