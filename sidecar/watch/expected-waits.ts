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
  readonly atMs: number;
}

/** Ended waits by which others are judged, and the fewest that tell anything. */
const KEPT = 256;
const KNOWN_MIN = 16;
/** Calls that have waited so long, and again each time twice as long, wait longer still than those that have just come. */
const OLD_MS = 5000;
/** Lines that are remembered, some ten an engine, also of engines that have left. */
const LINES_MAX = 4000;

/**
 * Learns how long calls wait for each place that they stand back in line: the spread over the last waits that ended, since
 * later calls of better levels pass some, and others come earlier than the line says.
 */
export class ExpectedWaits {
  readonly #watched = new Map<CallId, Place[]>();
  readonly #msPerPlace = new LRUCache<string, number[]>({ max: LINES_MAX });

  /** Looks at the waiting calls. Each counts once an age, so that long waits do not prevail. */
  observe(waits: Iterable<readonly [CallId, WaitView]>, nowMs: number): void {
    for (const [call, wait] of waits) {
      if (wait.engine === undefined || wait.background) continue;
      const line = lineOf(wait.engine, ageOf(wait));
      const places = this.#watched.get(call) ?? [];
      if (places.some((place) => place.line === line)) continue;
      places.push({ line, ahead: wait.ahead, atMs: nowMs });
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

  /**
   * Undefined: the call is first, and waits for room instead of others; too few waits like it have ended at its engine; it
   * has outlasted nine of ten of them, so that they do not tell of it; or nobody waits for it.
   */
  of(call: CallId, wait: WaitView, nowMs: number): ExpectedWait | undefined {
    const { engine, background, ahead } = wait;
    if (engine === undefined || background || ahead === 0) return undefined;
    // Waits of calls that had waited less stand in until enough as old have ended.
    for (let age = ageOf(wait); age >= 0; age -= 1) {
      const line = lineOf(engine, age);
      const known = this.#msPerPlace.get(line) ?? [];
      if (known.length < KNOWN_MIN) continue;
      const sorted = Float64Array.from(known).sort();
      const within = (share: number) => (ahead + 1) * (sorted[Math.floor(share * sorted.length)] as number);
      const p90Ms = within(0.9);
      const sinceMs = this.#watched.get(call)?.find((place) => place.line === line)?.atMs ?? nowMs;
      return nowMs - sinceMs > p90Ms ? undefined : { p50Ms: within(0.5), p90Ms };
    }
    return undefined;
  }
}

/** How often its wait has doubled from `OLD_MS` on. */
const ageOf = ({ waitingMs }: WaitView): number => Math.max(0, Math.floor(Math.log2(waitingMs / OLD_MS)) + 1);

const lineOf = (engine: string, age: number): string => `${age} ${engine}`;
