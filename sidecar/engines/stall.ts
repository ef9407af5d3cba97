import type { LoadReport } from './adapter.js';

/** How the reason begins for which such an engine is down. */
export const IS_STUCK = 'it is stuck';

/**
 * Notices an engine that is well by its own word, has requests, runs none of them and gives no token. vLLM's scheduler can
 * come to rest like this when contexts loaded from host memory leave no room to run any (vllm#57841).
 */
export class Stall {
  #sinceMs: number | undefined;
  #generatedTokens: number | undefined;

  /** @returns milliseconds for which all reports have said so; 0 after any other one */
  note({ running, waiting = 0, generatedTokens }: LoadReport, nowMs: number): number {
    const rests = running === 0 && waiting > 0 && generatedTokens === this.#generatedTokens;
    this.#generatedTokens = generatedTokens;
    this.#sinceMs = rests ? (this.#sinceMs ?? nowMs) : undefined;
    return this.#sinceMs === undefined ? 0 : nowMs - this.#sinceMs;
  }
}
