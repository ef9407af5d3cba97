/**
 * Classes of attained service: below 1 ms, then one for each doubling. They fit any engine without a time unit to
 * configure.
 */
const CLASSES = 32;
/** Ended programs remembered: each new one discounts the earlier ones by this fraction. */
const MEMORY_PROGRAMS = 512;
const PRIOR_PROGRAMS = 4;
/** Ended programs needed before the index differs from its prior. */
const ENDED_MIN = 32;
/** Changes after which the index is recomputed: each one moves it by little. */
const STALE_CHANGES = 32;

/**
 * Least service of each class. No `**`: its last digit differs between versions of Node, and a log must replay on any.
 */
const LOWER_MS: readonly number[] = Array.from({ length: CLASSES }, (_, kind) =>
  kind === 0 ? 0 : (1 << (kind - 1)) >>> 0,
);
const SERVICE_MS_MAX = 0x7fff_ffff;

const lowerMs = (kind: number): number => LOWER_MS[kind] ?? 0;
const widthMs = (kind: number): number => (kind === CLASSES - 1 ? Infinity : kind === 0 ? 1 : lowerMs(kind));

/** The class of an attained service. */
export const serviceClassOf = (serviceMs: number): number => CLASSES - Math.clz32(Math.min(serviceMs, SERVICE_MS_MAX));

/**
 * Rate at which programs end, given their attained service, learnt from earlier programs: the weight of a running
 * program.
 *
 * Each class of attained service has a hazard h = programs that ended in it / service given in it. The index of a class
 * is the best ratio of ends to service over it and classes above it (Gittins 1979, for a constant hazard a class):
 *
 *     index(k) = max over m >= k of  P(ends in k..m) / E[service in k..m]         per millisecond
 *
 * When most programs are short and a few long, it falls as 1 / attained service does, which is also the prior. Then
 * least attained service is the right order. When all programs are alike it would rise with service; it is then kept
 * level.
 */
export class CompletionIndex {
  readonly #servedMs: Float64Array;
  readonly #ended: Float64Array;
  readonly #index = new Float64Array(CLASSES);
  /** The index before it is kept level: it rises where programs that have run for longer end sooner. */
  readonly #ratio = new Float64Array(CLASSES);
  /** Service and ends in all classes, without the prior. */
  #servedSumMs = 0;
  #endedSum = 0;
  #changes = STALE_CHANGES;
  #endedCount = 0;
  /** Most programs that other gateways were heard to have seen end. */
  #othersEnded = 0;

  /** @param priorPrograms weight of the prior in each class, in programs */
  constructor(priorPrograms = PRIOR_PROGRAMS) {
    // Half of the programs that reach a class end in it.
    this.#ended = new Float64Array(CLASSES).fill(priorPrograms / 2);
    this.#servedMs = this.#ended.map((ended, kind) => (ended * Math.max(1, lowerMs(kind))) / Math.LN2);
  }

  /** Whether enough programs have ended to tell them apart. */
  get isLearnt(): boolean {
    return this.#endedCount + this.#othersEnded >= ENDED_MIN;
  }

  /** Programs that have ended here, up to those that make the index learnt: what other gateways hear. */
  get endedHere(): number {
    return Math.min(this.#endedCount, ENDED_MIN);
  }

  /** Other gateways have seen as many programs end: all together soon know enough. */
  share(othersEnded: number): void {
    this.#othersEnded = Math.max(this.#othersEnded, othersEnded);
  }

  /**
   * Mean service of a program, in milliseconds: service given / programs ended. Running programs count for what they have
   * had. Undefined while more have come back than ended.
   */
  get meanMs(): number | undefined {
    return this.#endedSum < 1 ? undefined : this.#servedSumMs / this.#endedSum;
  }

  /** The mean drawn towards `priorMs`, in milliseconds, as if a few programs of that size had ended besides. */
  meanMsTowards(priorMs: number): number {
    return (this.#servedSumMs + PRIOR_PROGRAMS * priorMs) / (Math.max(0, this.#endedSum) + PRIOR_PROGRAMS);
  }

  /** A program's attained service has grown. O(classes between). */
  recordService(fromMs: number, toMs: number): void {
    this.#servedSumMs += toMs - fromMs;
    for (let kind = serviceClassOf(fromMs); kind < CLASSES && lowerMs(kind) < toMs; kind += 1) {
      const ms = Math.min(toMs, lowerMs(kind) + widthMs(kind)) - Math.max(fromMs, lowerMs(kind));
      this.#servedMs[kind] = (this.#servedMs[kind] ?? 0) + ms;
    }
    this.#changes += 1;
  }

  /** A program has ended, or is presumed to have. */
  ended(serviceMs: number): void {
    const keep = 1 - 1 / MEMORY_PROGRAMS;
    for (let kind = 0; kind < CLASSES; kind += 1) {
      this.#ended[kind] = (this.#ended[kind] ?? 0) * keep;
      this.#servedMs[kind] = (this.#servedMs[kind] ?? 0) * keep;
    }
    this.#endedSum *= keep;
    this.#servedSumMs *= keep;
    this.#endedCount += 1;
    this.#count(serviceMs, 1);
  }

  /**
   * A program that was presumed to have ended has come back. It counts as a whole program less, although its end has
   * faded since: false ends and revivals are equally many and fade alike, so in the mean they cancel.
   */
  revived(serviceMs: number): void {
    this.#count(serviceMs, -1);
  }

  /** Index of a class of attained service (`serviceClassOf`), per millisecond of service. */
  hazardIndexOf(serviceClass: number): number {
    this.refresh();
    return this.#index[serviceClass] ?? 0;
  }

  /** Service for each program that ends, from this service on, in milliseconds: 1 / the index, which may rise here. */
  msToEnd(serviceMs: number): number {
    this.refresh();
    return this.lastComputed.msToEnd(serviceMs);
  }

  /** The index as last computed. Views use it, because looking must not bring the next computation forward. */
  get lastComputed(): Pick<CompletionIndex, 'isLearnt' | 'hazardIndexOf' | 'msToEnd'> {
    return {
      isLearnt: this.isLearnt,
      hazardIndexOf: (serviceClass) => this.#index[serviceClass] ?? 0,
      msToEnd: (serviceMs) => 1 / (this.#ratio[serviceClassOf(serviceMs)] ?? 0),
    };
  }

  /** Computes the index anew, if it is out of date. */
  refresh(): void {
    if (this.#changes >= STALE_CHANGES) this.#compute();
  }

  #count(serviceMs: number, change: 1 | -1): void {
    const kind = serviceClassOf(serviceMs);
    this.#ended[kind] = (this.#ended[kind] ?? 0) + change;
    this.#endedSum += change;
    this.#changes += 1;
  }

  #compute(): void {
    this.#changes = 0;
    // Revivals may for a while outnumber the remembered ends of a class.
    const hazards = this.#ended.map((ended, kind) => Math.max(0, ended) / (this.#servedMs[kind] ?? 1));
    const ends = hazards.map((hazard, kind) => (hazard === 0 ? 0 : 1 - Math.exp(-hazard * widthMs(kind))));
    let least = Infinity;
    for (let kind = 0; kind < CLASSES; kind += 1) {
      const ratio = bestRatio(kind, hazards, ends);
      this.#ratio[kind] = ratio;
      least = Math.min(least, ratio);
      this.#index[kind] = least;
    }
  }
}

/**
 * Largest ratio of ends to milliseconds, from this class on.
 * @param ends share of the programs reaching a class that end in it
 */
function bestRatio(from: number, hazards: Float64Array, ends: Float64Array): number {
  let reach = 1;
  let ended = 0;
  let ms = 0;
  let best = 0;
  for (let kind = from; kind < CLASSES && reach > 0; kind += 1) {
    const hazard = hazards[kind] ?? 0;
    const share = ends[kind] ?? 0;
    ended += reach * share;
    ms += hazard === 0 ? reach * Math.min(widthMs(kind), lowerMs(kind)) : (reach * share) / hazard;
    reach *= 1 - share;
    if (ms > 0) best = Math.max(best, ended / ms);
  }
  return best;
}
