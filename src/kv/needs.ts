import type { Call } from '../programs/call.js';
import type { CacheContents } from './cache-contents.js';
import { isCountedElsewhere, type Context, type Grown } from './context.js';
import type { ContextsInUse } from './contexts-in-use.js';
import type { SharedHoldings } from './shared-prefixes.js';

/** Most growth that one context counts, as a share of the cache: an engine of few calls reads all weights for them. */
const GROWTH_SHARE_MAX = 1 / 16;

/** The tokens that a call would add to one engine's working set. It changes nothing. */
export class Needs {
  constructor(
    private readonly contents: CacheContents,
    private readonly inUse: ContextsInUse,
    private readonly countedShared: SharedHoldings,
  ) {}

  /** Tokens that a context of this size counts here: its size or its forecast, less its shared prefix. */
  countedTokens({ sharedTokens, forecastTokens }: Grown, tokens: number): number {
    const grown = Math.min(forecastTokens - sharedTokens, Math.floor(this.contents.capacityTokens * GROWTH_SHARE_MAX));
    // The engine may have found more tokens cached than our estimate of the whole prompt.
    return Math.max(0, tokens - sharedTokens, grown);
  }

  /** Tokens that the call would add to the contexts in flight here. Parallel calls of a thread share one prompt. */
  extraTokens(call: Call): number {
    const context = this.contents.get(call.program, call.thread);
    if (context?.state !== 'active') return call.countedTokens;
    const promptTokens = Math.max(context.promptTokens, call.promptTokens);
    const reservedTokens = context.reservedTokens + call.needTokens - call.promptTokens;
    return Math.max(0, this.countedActive(context, call, promptTokens, reservedTokens) - context.countedTokens);
  }

  /** Tokens that the call needs of the room for its admission class. A return with a host needs none for growth to come. */
  roomTokens(call: Call): number {
    const context = this.contents.get(call.program, call.thread);
    if (this.contents.hostTokens === 0 || context === undefined) return this.extraTokens(call);
    if (context.state === 'idle') return Math.max(0, call.needTokens - call.sharedTokens);
    const promptTokens = Math.max(context.promptTokens, call.promptTokens);
    return promptTokens - context.promptTokens + call.needTokens - call.promptTokens;
  }

  /** Parallel calls of a thread share the prefix that the first of them shares. */
  countedActive(context: Context, { forecastTokens }: Grown, promptTokens: number, reservedTokens: number): number {
    if (isCountedElsewhere(context)) return reservedTokens;
    return this.countedTokens({ sharedTokens: context.sharedTokens, forecastTokens }, promptTokens + reservedTokens);
  }

  /** Further tokens that the call needs for its family's prefix, where no counted context holds it. */
  missingSharedTokens(call: Call): number {
    if (this.contents.get(call.program, call.thread)?.state === 'active') return 0;
    // Beside a host, the bound on what runs holds for newcomers too: a beginning that only rests is not in the KV cache.
    const restCounts = call.admissionClass === 'new' && this.contents.hostTokens === 0;
    const counted = restCounts ? this.countedShared : this.inUse.shared;
    return counted.missingTokens(call.family, call.sharedTokens);
  }
}
