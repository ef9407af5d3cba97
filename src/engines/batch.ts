import { serviceClassOf, type CompletionIndex } from '../programs/completion-index.js';

/** A call's fixed load on a step beside its context, in tokens of context: its place in the batch. */
const CALL_TOKENS = 128;

/** A call in flight: the facts that its batch needs, and a reading that is taken for it. */
interface InFlight {
  readonly promptTokens: number;
  readonly serviceAtArrivalMs: number;
  readonly expectedTotalMs: number;
  areaAtStart: number;
}

/** Load of one call on a step, in tokens. */
export const loadOf = ({ promptTokens }: Pick<InFlight, 'promptTokens'>): number => promptTokens + CALL_TOKENS;

/** A call's weight where its program's rest is declared: the order is by rest too. Undefined: attained service gives it. */
export const declaredWeightOf = (call: Pick<InFlight, 'serviceAtArrivalMs' | 'expectedTotalMs'>): number | undefined =>
  call.expectedTotalMs === 0 ? undefined : 1 / Math.max(1, call.expectedTotalMs - call.serviceAtArrivalMs);

/** The calls in flight on an engine: their load on a step, and their weights or their programs' attained service by class. */
export class Batch {
  loadTokens = 0;
  /** Part of the load that other gateways' calls are. */
  #othersTokens = 0;
  readonly #byClass: number[] = [];
  #declaredCalls = 0;
  #declaredWeight = 0;
  #areaTokenMs = 0;
  #nowMs = 0;

  add(call: InFlight, nowMs: number): void {
    call.areaAtStart = this.areaTokenMs(nowMs);
    this.#change(call, 1);
  }

  remove(call: InFlight, nowMs: number): void {
    this.areaTokenMs(nowMs);
    this.#change(call, -1);
  }

  /** Load of this gateway's calls. */
  get ownTokens(): number {
    return this.loadTokens - this.#othersTokens;
  }

  /** Other gateways' calls put this load on a step. */
  share(othersTokens: number, nowMs: number): void {
    this.areaTokenMs(nowMs);
    this.loadTokens += othersTokens - this.#othersTokens;
    this.#othersTokens = othersTokens;
  }

  /**
   * Integral of the load up to `nowMs`. The difference between two readings, over the time between them, is the mean
   * load.
   */
  areaTokenMs(nowMs: number): number {
    this.#areaTokenMs += this.loadTokens * (nowMs - this.#nowMs);
    this.#nowMs = nowMs;
    return this.#areaTokenMs;
  }

  /** Sum of the calls' weights: completion indices, but for declared ones. O(classes). */
  weight(index: Pick<CompletionIndex, 'of'>): number {
    return this.#byClass.reduce(
      (sum, calls, kind) => (calls === 0 ? sum : sum + calls * index.of(kind)),
      this.#declaredWeight,
    );
  }

  #change(call: InFlight, change: 1 | -1): void {
    this.loadTokens += change * loadOf(call);
    const declared = declaredWeightOf(call);
    if (declared !== undefined) {
      this.#declaredCalls += change;
      // Rounding must not outlast the calls.
      this.#declaredWeight = this.#declaredCalls === 0 ? 0 : this.#declaredWeight + change * declared;
      return;
    }
    const kind = serviceClassOf(call.serviceAtArrivalMs);
    while (this.#byClass.length <= kind) this.#byClass.push(0);
    this.#byClass[kind] = (this.#byClass[kind] ?? 0) + change;
  }
}
