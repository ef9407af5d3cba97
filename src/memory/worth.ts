/** Share of warmed tokens that may be wasted. */
const WASTED_SHARE_MAX = 0.2;
/** Time in which what was seen of warms counts half. */
const HALF_LIFE_MS = 600_000;

/**
 * Worth of the warms of one agent type, in prompt tokens that engines computed for them. It stops warms
 * that do not pay: where forecasts are vague, prompts change, or engines have too little room to keep what was warmed.
 * Observations fade, so that one warm now and then finds out whether they pay again.
 */
export class Worth {
  #usefulTokens = 0;
  #wastedTokens = 0;
  #atMs = 0;
  /** Returns with warms that nothing is known of yet. */
  #open = 0;

  /** Whether a warm of this size is expected to pay. While nothing is known, one is tried. */
  pays(tokens: number, nowMs: number): boolean {
    this.#fade(nowMs);
    const seenTokens = this.#usefulTokens + this.#wastedTokens;
    return seenTokens < tokens / 2 ? this.#open === 0 : this.#wastedTokens <= WASTED_SHARE_MAX * seenTokens;
  }

  begun(): void {
    this.#open += 1;
  }

  learn(usefulTokens: number, wastedTokens: number, nowMs: number): void {
    this.#open -= 1;
    this.#fade(nowMs);
    this.#usefulTokens += usefulTokens;
    this.#wastedTokens += wastedTokens;
  }

  #fade(nowMs: number): void {
    const share = Math.exp((-Math.LN2 * Math.max(0, nowMs - this.#atMs)) / HALF_LIFE_MS);
    this.#usefulTokens *= share;
    this.#wastedTokens *= share;
    this.#atMs = nowMs;
  }
}
