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

/** A call's weight: the completion index of its program's attained service, or 1 / its declared rest if that is more. */
export function weightOf(
  { serviceAtArrivalMs, expectedTotalMs }: Pick<InFlight, 'serviceAtArrivalMs' | 'expectedTotalMs'>,
  index: Pick<CompletionIndex, 'hazardIndexOf'>,
): number {
  const attained = index.hazardIndexOf(serviceClassOf(serviceAtArrivalMs));
  return expectedTotalMs === 0 ? attained : Math.max(attained, 1 / Math.max(1, expectedTotalMs - serviceAtArrivalMs));
}

/** The calls in flight on an engine: their load on a step, and their weights or their programs' attained service by class. */
export class Batch {
  loadTokens = 0;
  /** Part of the load that other gateways' calls are. */
  #othersTokens = 0;
  /** Sum of the weights of their calls. */
  #othersWeight = 0;
  readonly #byClass: number[] = [];
  readonly #declared = new Set<InFlight>();
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

  /** Load of other gateways' calls on a step, and the sum of their weights. */
  share(othersTokens: number, othersWeight: number, nowMs: number): void {
    this.#othersWeight = othersWeight;
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

  /** Sum of the weights of all gateways' calls. */
  weight(index: Pick<CompletionIndex, 'hazardIndexOf'>): number {
    return this.ownWeight(index) + this.#othersWeight;
  }

  /** Sum of the weights of this gateway's calls: completion indices, but for declared ones. O(classes). */
  ownWeight(index: Pick<CompletionIndex, 'hazardIndexOf'>): number {
    let sum = this.#byClass.reduce(
      (total, calls, kind) => (calls === 0 ? total : total + calls * index.hazardIndexOf(kind)),
      0,
    );
    for (const call of this.#declared) sum += weightOf(call, index);
    return sum;
  }

  #change(call: InFlight, change: 1 | -1): void {
    this.loadTokens += change * loadOf(call);
    if (call.expectedTotalMs > 0) {
      if (change === 1) this.#declared.add(call);
      else this.#declared.delete(call);
      return;
    }
    const kind = serviceClassOf(call.serviceAtArrivalMs);
    while (this.#byClass.length <= kind) this.#byClass.push(0);
    this.#byClass[kind] = (this.#byClass[kind] ?? 0) + change;
  }
}
