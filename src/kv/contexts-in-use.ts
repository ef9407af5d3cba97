import type { Context } from './context.js';
import { SharedHoldings } from './shared-prefixes.js';

/** Tokens of other gateways' contexts in use, and of their claims. */
export interface Others {
  readonly activeTokens: number;
  readonly claimTokens: number;
}

/** The contexts of one engine with a call in flight: the tokens that they count, and those of other gateways. */
export class ContextsInUse {
  readonly shared = new SharedHoldings();
  others: Others = { activeTokens: 0, claimTokens: 0 };
  /** Without shared prefixes. */
  tokens = 0;
  /** Of these, prompts and reserved output, without growth to come. */
  #runningTokens = 0;

  /** Shared prefixes included. */
  get countedTokens(): number {
    return this.tokens + this.shared.tokens;
  }

  get anywhereTokens(): number {
    return this.countedTokens + this.others.activeTokens;
  }

  get runningAnywhereTokens(): number {
    return this.#runningTokens + this.shared.tokens + this.others.activeTokens;
  }

  /** The context counts as many tokens from now on, or its calls have changed. */
  resize(context: Context, countedTokens: number): void {
    const { promptTokens, sharedTokens, reservedTokens } = context;
    const runningTokens = Math.max(0, promptTokens - sharedTokens) + reservedTokens;
    this.tokens += countedTokens - context.countedTokens;
    this.#runningTokens += runningTokens - context.runningTokens;
    context.countedTokens = countedTokens;
    context.runningTokens = runningTokens;
  }

  leave(context: Context): void {
    this.tokens -= context.countedTokens;
    this.#runningTokens -= context.runningTokens;
    context.runningTokens = 0;
    this.shared.count(context.family, context.sharedTokens, -1);
  }

  /**
   * This gateway's part of the gate: contexts in use have theirs, and the claims of all gateways shrink alike.
   * @param workingSetTokens contexts in use and claims, of this gateway
   */
  ownGate(gateTokens: number, workingSetTokens: number): number {
    const { activeTokens, claimTokens } = this.others;
    if (claimTokens === 0) return gateTokens - activeTokens;
    const ownTokens = workingSetTokens - this.countedTokens;
    const roomTokens = gateTokens - this.anywhereTokens;
    return this.countedTokens + Math.max(0, (roomTokens * ownTokens) / (ownTokens + claimTokens));
  }
}
