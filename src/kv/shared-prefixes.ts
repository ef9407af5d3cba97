import type { Call } from '../programs/call.js';

/** Kinds of prompts by size, two to a doubling. */
const KINDS = 64;
/** First calls that are remembered of a kind. */
const MEMORY_CALLS = 64;

/** Mean shared beginning of the prompts of one kind, newer ones weighing more. */
interface Kind {
  tokens: number;
  calls: number;
}

/**
 * What programs' prompts have in common, learnt from what engines found in their caches when programs began.
 *
 * Agents of one make begin with the same instructions and tool schemas, thousands of tokens that an engine keeps once for
 * all of them. A gate that counts each context in full lets in half as many programs as there is room for, or fewer. A
 * program's first prompt tells: all that is cached of it came from others. Engines that do not say what they found
 * cached share nothing here.
 */
export class SharedPrefixes {
  readonly #kinds: Kind[] = Array.from({ length: KINDS }, () => ({ tokens: 0, calls: 0 }));

  /** What of the call's context others hold as well, judged by its program's first prompt, or by a sub-agent's own. */
  expectedTokens(call: Call): number {
    return Math.min(call.promptTokens, Math.round(this.#kind(call).tokens));
  }

  /** A program's first call has its answer. @param cachedTokens of its prompt, as the engine says */
  began(call: Call, cachedTokens: number): void {
    const kind = this.#kind(call);
    kind.calls = Math.min(kind.calls + 1, MEMORY_CALLS);
    kind.tokens += (cachedTokens - kind.tokens) / kind.calls;
    call.sharedTokens = cachedTokens;
  }

  #kind({ program, thread, promptTokens }: Call): Kind {
    const beganWith = thread === '' ? program.firstPromptTokens : promptTokens;
    return this.#kinds[Math.min(Math.floor(2 * Math.log2(1 + beganWith)), KINDS - 1)] as Kind;
  }
}
