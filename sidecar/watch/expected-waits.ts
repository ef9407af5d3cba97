import { LRUCache } from 'lru-cache';
import type { CallId, WaitView } from '../../src/index.js';

/** The time within which half of such waits have ended, and nine of ten. */
export interface ExpectedWait {
  readonly p50Ms: number;
  readonly p90Ms: number;
}

interface Place {
  readonly line: string;
  readonly ahead: number;
  readonly waitingMs: number;
  readonly atMs: number;
}

/** Ended waits by which others are judged, and the fewest that tell anything. */
const KEPT = 256;
const KNOWN_MIN = 32;
/** Calls that have waited so long wait longer still than those that have just come. */
const OLD_MS = 5000;
/** Lines that are remembered, four an engine, also of engines that have left. */
const LINES_MAX = 4000;

/**
 * Learns how long calls wait for each place that they stand back in line: the spread over the last waits that ended, since
 * later calls of better levels pass some, and others come earlier than the line says.
 */
export class ExpectedWaits {
  readonly #watched = new Map<CallId, Place[]>();
  readonly #msPerPlace = new LRUCache<string, number[]>({ max: LINES_MAX });

  /** Looks at the waiting calls. Each counts again once it has waited twice as long, so that long waits do not prevail. */
  observe(waits: Iterable<readonly [CallId, WaitView]>, nowMs: number): void {
    for (const [call, wait] of waits) {
      const line = lineOf(wait);
      if (line === undefined) continue;
      const { ahead, waitingMs } = wait;
      const places = this.#watched.get(call) ?? [];
      const last = places.at(-1);
      if (last !== undefined && waitingMs < Math.max(OLD_MS, 2 * last.waitingMs)) continue;
      places.push({ line, ahead, waitingMs, atMs: nowMs });
      this.#watched.set(call, places);
    }
  }

  dispatched(call: CallId, nowMs: number): void {
    for (const { line, ahead, atMs } of this.#watched.get(call) ?? []) {
      const known = this.#msPerPlace.get(line) ?? [];
      known.push((nowMs - atMs) / (ahead + 1));
      if (known.length > KEPT) known.shift();
      this.#msPerPlace.set(line, known);
    }
    this.#watched.delete(call);
  }

  /** The call has ended without an engine. */
  left(call: CallId): void {
    this.#watched.delete(call);
  }

  /** Undefined: too few waits like it have ended at its engine, or nobody waits for the call. */
  of(wait: WaitView): ExpectedWait | undefined {
    const known = this.#msPerPlace.get(lineOf(wait) ?? '') ?? [];
    if (known.length < KNOWN_MIN) return undefined;
    const sorted = Float64Array.from(known).sort();
    const within = (share: number) => (wait.ahead + 1) * (sorted[Math.floor(share * sorted.length)] as number);
    return { p50Ms: within(0.5), p90Ms: within(0.9) };
  }
}

/** Calls that wait alike: the first in line waits for room, and not for others. */
const lineOf = ({ engine, background, ahead, waitingMs }: WaitView): string | undefined =>
  engine === undefined || background
    ? undefined
    : `${waitingMs < OLD_MS ? 'young' : 'old'} ${ahead === 0 ? 'first' : 'behind'} ${engine}`;
