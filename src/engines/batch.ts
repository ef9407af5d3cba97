import { serviceClassOf, type CompletionIndex } from '../programs/completion-index.js';

/** A call's fixed load on a step beside its context, in tokens of context: its place in the batch. */
const CALL_TOKENS = 128;

/** A call in flight: the facts that its batch needs, and a reading that is taken for it. */
interface InFlight {
  readonly promptTokens: number;
  readonly serviceAtArrivalMs: number;
  areaAtStart: number;
}

/** Load of one call on a step, in tokens. */
export const loadOf = ({ promptTokens }: Pick<InFlight, 'promptTokens'>): number => promptTokens + CALL_TOKENS;

/** The calls in flight on an engine: their load on a step, and their programs' attained service by class. */
export class Batch {
  loadTokens = 0;
  /** Part of the load that other gateways' calls are. */
  #othersTokens = 0;
  readonly #byClass: number[] = [];
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

  /** Sum of the calls' completion indices. O(classes). */
  weight(index: Pick<CompletionIndex, 'of'>): number {
    return this.#byClass.reduce((sum, calls, kind) => (calls === 0 ? sum : sum + calls * index.of(kind)), 0);
  }

  #change(call: InFlight, change: 1 | -1): void {
    const kind = serviceClassOf(call.serviceAtArrivalMs);
    while (this.#byClass.length <= kind) this.#byClass.push(0);
    this.#byClass[kind] = (this.#byClass[kind] ?? 0) + change;
    this.loadTokens += change * loadOf(call);
  }
}
