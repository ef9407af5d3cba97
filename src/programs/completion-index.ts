/** Classes of attained service: below 1 ms, then one for each doubling, which fit any engine. */
const CLASSES = 32;
/** Ended programs remembered: each new one discounts the earlier ones by this fraction. */
const MEMORY_PROGRAMS = 512;
const PRIOR_PROGRAMS = 4;
/** Service below which a class fades no further: rounded to the least numbers, it and its ends would be equal. */
const FADED_MS = 1e-280;
/** Weight of the index of all programs in that of one agent type, in programs a class. */
const PARENT_PROGRAMS = 2;
/** Ended programs from which a type counts: with a text of its own in each prompt, each program is a type. */
const PROGRAMS_MIN = 2;
/** Ended programs needed before the index differs from its prior. */
const ENDED_MIN = 32;
/** Changes after which the index is recomputed: each one moves it by little. */
const STALE_CHANGES = 32;

const SERVICE_MS_MAX = 0x7fff_ffff;

/** Least service of a class. No `**`: its last digit differs between versions of Node, and a log must replay on any. */
const lowerMs = (kind: number): number => (kind === 0 ? 0 : (1 << (kind - 1)) >>> 0);
const widthMs = (kind: number): number => (kind === CLASSES - 1 ? Infinity : kind === 0 ? 1 : lowerMs(kind));

const serviceClassOf = (serviceMs: number): number => CLASSES - Math.clz32(Math.min(serviceMs, SERVICE_MS_MAX));

/**
 * Rate at which programs end, given their attained service, learnt from earlier programs: of all, or of one agent type.
 *
 * Each class of attained service has a hazard h = programs that ended in it / service given in it. The index of a class
 * is the best ratio of ends to service over it and classes above it (Gittins 1979, for a constant hazard a class):
 *
 *     index(k) = max over m >= k of  P(ends in k..m) / E[service in k..m]         per millisecond
 *
 * Its inverse is the service to expect until a program ends. When most programs are short and a few long, that grows with
 * attained service, as in the prior. When all are alike, it falls: the program that has had most is the nearest to its end.
 *
 * An agent type begins with the hazards of all programs. Until two of its own have ended, it ranks as they do: the service
 * of a type's only program would say that it never ends.
 */
export class CompletionIndex {
  readonly #servedMs: Float64Array;
  readonly #ended: Float64Array;
  #hazards = new Float64Array(CLASSES);
  readonly #index = new Float64Array(CLASSES);
  #changes = STALE_CHANGES;
  #endedCount = 0;
  /** Ended programs, less those that came back. */
  #programs = 0;
  /** Most programs that other gateways were heard to have seen end. */
  #othersEnded = 0;

  /** @param all the index of all programs, or of its harness, which learns with it; undefined: this is that of all */
  constructor(private readonly all?: CompletionIndex) {
    // Half of the programs that reach a class end in it.
    this.#ended = new Float64Array(CLASSES).fill(all === undefined ? PRIOR_PROGRAMS / 2 : 0);
    this.#servedMs = this.#ended.map((ended, kind) => (ended * Math.max(1, lowerMs(kind))) / Math.LN2);
  }

  /** Whether enough programs have ended, of any type, to tell them apart. */
  get isLearnt(): boolean {
    return this.all?.isLearnt ?? this.#endedCount + this.#othersEnded >= ENDED_MIN;
  }

  /** Programs that have ended here, up to those that make the index learnt: what other gateways hear. */
  get endedHere(): number {
    return Math.min(this.#endedCount, ENDED_MIN);
  }

  /** Other gateways have seen as many programs end: all together soon know enough. */
  share(othersEnded: number): void {
    this.#othersEnded = Math.max(this.#othersEnded, othersEnded);
  }

  /** A program's attained service has grown. O(classes between). */
  recordService(fromMs: number, toMs: number): void {
    this.all?.recordService(fromMs, toMs);
    for (let kind = serviceClassOf(fromMs); kind < CLASSES && lowerMs(kind) < toMs; kind += 1) {
      const ms = Math.min(toMs, lowerMs(kind) + widthMs(kind)) - Math.max(fromMs, lowerMs(kind));
      this.#servedMs[kind] = (this.#servedMs[kind] ?? 0) + ms;
    }
    this.#changes += 1;
  }

  /** A program has ended, or is presumed to have. */
  ended(serviceMs: number): void {
    this.all?.ended(serviceMs);
    const keep = 1 - 1 / MEMORY_PROGRAMS;
    for (let kind = 0; kind < CLASSES; kind += 1) {
      const servedMs = this.#servedMs[kind] ?? 0;
      if (servedMs < FADED_MS) continue;
      this.#ended[kind] = (this.#ended[kind] ?? 0) * keep;
      this.#servedMs[kind] = servedMs * keep;
    }
    this.#endedCount += 1;
    this.#count(serviceMs, 1);
  }

  /**
   * A program that was presumed to have ended has come back. It counts as a whole program less, although its end has
   * faded since: false ends and revivals are equally many and fade alike, so in the mean they cancel.
   */
  revived(serviceMs: number): void {
    this.all?.revived(serviceMs);
    this.#count(serviceMs, -1);
  }

  /** Service to expect until a program with this service ends, in milliseconds: 1 / the index. */
  msToEnd(serviceMs: number): number {
    this.refresh();
    if (this.all !== undefined && this.#programs < PROGRAMS_MIN) return this.all.msToEnd(serviceMs);
    return 1 / (this.#index[serviceClassOf(serviceMs)] ?? 0);
  }

  /** Service within which half of such programs end, by the hazards last computed: looking brings no computation forward. */
  medianMsToEnd(serviceMs: number): number {
    if (this.all !== undefined && this.#programs < PROGRAMS_MIN) return this.all.medianMsToEnd(serviceMs);
    let fromMs = serviceMs;
    let left = Math.LN2;
    for (let kind = serviceClassOf(serviceMs); kind < CLASSES; kind += 1) {
      const hazard = this.#hazards[kind] ?? 0;
      const untilMs = lowerMs(kind) + widthMs(kind);
      if (hazard * (untilMs - fromMs) >= left) return fromMs + left / hazard - serviceMs;
      left -= hazard * (untilMs - fromMs);
      fromMs = untilMs;
    }
    return Infinity;
  }

  refresh(): void {
    if (this.all !== undefined && this.#programs < PROGRAMS_MIN) this.all.refresh();
    else if (this.#changes >= STALE_CHANGES) this.#compute();
  }

  #count(serviceMs: number, change: 1 | -1): void {
    const kind = serviceClassOf(serviceMs);
    this.#ended[kind] = (this.#ended[kind] ?? 0) + change;
    this.#changes += 1;
    this.#programs += change;
  }

  #compute(): void {
    this.#changes = 0;
    this.all?.refresh();
    this.#hazards = this.#ended.map((_, kind) => this.#hazardOf(kind));
    const ends = this.#hazards.map((hazard, kind) => (hazard === 0 ? 0 : 1 - Math.exp(-hazard * widthMs(kind))));
    for (let kind = 0; kind < CLASSES; kind += 1) this.#index[kind] = bestRatio(kind, this.#hazards, ends);
  }

  /** Ends a millisecond of service in the class. Revivals may for a while outnumber the remembered ends. */
  #hazardOf(kind: number): number {
    const ended = Math.max(0, this.#ended[kind] ?? 0);
    const servedMs = this.#servedMs[kind] ?? 0;
    if (this.all === undefined) return ended / servedMs;
    // As if a few programs had passed through the class before, with the hazard of all.
    const hazard = this.all.#hazards[kind] ?? 0;
    const ms = Math.max(1, lowerMs(kind));
    const priorEnded = PARENT_PROGRAMS * (1 - Math.exp(-hazard * ms));
    return (ended + priorEnded) / (servedMs + (hazard === 0 ? PARENT_PROGRAMS * ms : priorEnded / hazard));
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
