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

/** Calls of one engine that had waited as long. */
interface Line {
  /** Milliseconds for a place of the last waits that have ended. */
  readonly ended: number[];
  readonly waiting: Set<Place>;
}

/** Ended waits by which others are judged, and the fewest that tell anything. */
const KEPT = 256;
const KNOWN_MIN = 16;
/** Calls that have waited so long, and again each time twice as long, wait longer still than those that have just come. */
const OLD_MS = 5000;
/** Lines that are remembered, some ten an engine, also of engines that have left. */
const LINES_MAX = 4000;

/** Learns how long calls wait for each place in line: a spread, as later calls of better levels pass some of them. */
export class ExpectedWaits {
  readonly #watched = new Map<CallId, Place[]>();
  readonly #lines = new LRUCache<string, Line>({ max: LINES_MAX });
  /** Milliseconds for a place as of the last look. */
  readonly #spreads = new Map<string, ExpectedWait | undefined>();

  /** Looks at the waiting calls. Each counts once an age, so that long waits do not prevail. */
  observe(waits: Iterable<readonly [CallId, WaitView]>, nowMs: number): void {
    this.#spreads.clear();
    for (const [call, wait] of waits) {
      if (wait.engine === undefined || wait.background) continue;
      const line = lineOf(wait.engine, ageOf(wait));
      const places = this.#watched.get(call) ?? [];
      if (places.some((place) => place.line === line)) continue;
      const place = { line, ahead: wait.ahead, atMs: nowMs };
      this.#watched.set(call, [...places, place]);
      const { ended = [], waiting = new Set<Place>() } = this.#lines.get(line) ?? {};
      this.#lines.set(line, { ended, waiting: waiting.add(place) });
    }
  }

  dispatched(call: CallId, nowMs: number): void {
    for (const place of this.left(call)) {
      const { ended = [] } = this.#lines.get(place.line) ?? {};
      ended.push(msPerPlace(place, nowMs));
      if (ended.length > KEPT) ended.shift();
    }
  }

  /** The call waits no longer. @returns where it was seen */
  left(call: CallId): readonly Place[] {
    const places = this.#watched.get(call) ?? [];
    for (const place of places) this.#lines.get(place.line)?.waiting.delete(place);
    this.#watched.delete(call);
    return places;
  }

  /** Undefined: the call is first, or soon will be, and waits for room; it outlasts nine of ten such waits, or few have ended; or nobody waits for it. */
  of(call: CallId, wait: WaitView, nowMs: number): ExpectedWait | undefined {
    const { engine, background, ahead } = wait;
    if (engine === undefined || background || ahead === 0) return undefined;
    // Waits of calls that had waited less stand in until enough as old have ended.
    for (let age = ageOf(wait); age >= 0; age -= 1) {
      const line = lineOf(engine, age);
      const spread = this.#spreadOf(line, nowMs);
      if (spread === undefined) continue;
      const p90Ms = (ahead + 1) * spread.p90Ms;
      const sinceMs = this.#watched.get(call)?.find((place) => place.line === line)?.atMs ?? nowMs;
      const p50Ms = (ahead + 1) * spread.p50Ms;
      return nowMs - sinceMs > p90Ms || nowMs + p50Ms > firstAtMs(wait) ? undefined : { p50Ms, p90Ms };
    }
    return undefined;
  }

  #spreadOf(line: string, nowMs: number): ExpectedWait | undefined {
    if (!this.#spreads.has(line)) this.#spreads.set(line, spreadOf(this.#lines.get(line), nowMs));
    return this.#spreads.get(line);
  }
}

/** Waits that go on count in the p90 once they are longer, or growing queues would be told the short waits of before. */
function spreadOf(line: Line | undefined, nowMs: number): ExpectedWait | undefined {
  const { ended = [], waiting = [] } = line ?? {};
  if (ended.length < KNOWN_MIN) return undefined;
  const p90Ms = quantile(ended, 0.9);
  const longer = [...waiting].map((place) => msPerPlace(place, nowMs)).filter((ms) => ms > p90Ms);
  return { p50Ms: quantile(ended, 0.5), p90Ms: quantile([...ended, ...longer], 0.9) };
}

const quantile = (values: readonly number[], share: number): number =>
  Float64Array.from(values).sort()[Math.floor(share * values.length)] as number;

const msPerPlace = ({ ahead, atMs }: Place, nowMs: number): number => (nowMs - atMs) / (ahead + 1);

/** How often its wait has doubled from `OLD_MS` on. */
const ageOf = ({ waitingMs }: WaitView): number => Math.max(0, Math.floor(Math.log2(waitingMs / OLD_MS)) + 1);

/** When it is first at the latest: it then passes all that have waited less. Infinity: not known, as others ahead have waited longer. */
const firstAtMs = ({ waitingMs, oldestAhead, frontAtMs }: WaitView): number =>
  (oldestAhead?.waitingMs ?? 0) > waitingMs ? Infinity : (frontAtMs ?? Infinity);

const lineOf = (engine: string, age: number): string => `${age} ${engine}`;
