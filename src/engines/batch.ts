/** A call's fixed load on a step beside its context, in tokens of context: its place in the batch. */
const CALL_TOKENS = 128;

/** A call in flight: the facts that its batch needs, and a reading that is taken for it. */
interface InFlight {
  readonly promptTokens: number;
  readonly restMs: number;
  readonly isBackground?: boolean;
  areaAtStart: number;
}

/** Load of one call on a step, in tokens. */
export const loadOf = ({ promptTokens }: Pick<InFlight, 'promptTokens'>): number => promptTokens + CALL_TOKENS;

/** A call's weight, per millisecond: the inverse of the service to expect until its program ends. */
export const weightOf = ({ restMs }: Pick<InFlight, 'restMs'>): number => 1 / Math.max(1, restMs);

/** The calls in flight on an engine: their load on a step, and their weights. */
export class Batch {
  loadTokens = 0;
  /** Part of the load that background calls of this gateway are, and their number. */
  backgroundTokens = 0;
  backgroundCalls = 0;
  /** Part of the load that other gateways' calls are, and the sum of their weights. */
  #othersTokens = 0;
  #othersWeight = 0;
  readonly #calls = new Set<InFlight>();
  /** Sum of their weights; undefined: to be read anew. */
  #weight: number | undefined;
  #areaTokenMs = 0;
  #nowMs = 0;

  add(call: InFlight, nowMs: number): void {
    call.areaAtStart = this.areaTokenMs(nowMs);
    this.#calls.add(call);
    this.#count(call, 1);
  }

  remove(call: InFlight, nowMs: number): void {
    this.areaTokenMs(nowMs);
    this.#calls.delete(call);
    this.#count(call, -1);
  }

  #count(call: InFlight, sign: 1 | -1): void {
    const tokens = sign * loadOf(call);
    this.loadTokens += tokens;
    this.#weight = undefined;
    if (!call.isBackground) return;
    this.backgroundTokens += tokens;
    this.backgroundCalls += sign;
  }

  get ownTokens(): number {
    return this.loadTokens - this.#othersTokens;
  }

  share(othersTokens: number, othersWeight: number, nowMs: number): void {
    this.#othersWeight = othersWeight;
    this.areaTokenMs(nowMs);
    this.loadTokens += othersTokens - this.#othersTokens;
    this.#othersTokens = othersTokens;
  }

  /** Integral of the load up to `nowMs`: the difference of two readings, over the time between them, is the mean load. */
  areaTokenMs(nowMs: number): number {
    this.#areaTokenMs += this.loadTokens * (nowMs - this.#nowMs);
    this.#nowMs = nowMs;
    return this.#areaTokenMs;
  }

  get weight(): number {
    return this.ownWeight + this.#othersWeight;
  }

  /** Sum of the weights of this gateway's calls. O(calls) after a change: a running sum would drift. */
  get ownWeight(): number {
    if (this.#weight === undefined) {
      this.#weight = 0;
      for (const call of this.#calls) this.#weight += weightOf(call);
    }
    return this.#weight;
  }
}
