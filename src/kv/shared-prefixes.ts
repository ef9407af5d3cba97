import { Recent } from '../programs/recent.js';
import type { Family } from '../protocol/events.js';

/** Upper bound on families; beyond it, the family longest without a new program is forgotten. */
const FAMILIES_MAX = 4096;
const MEMORY_CALLS = 64;

/** Mean shared prefix of one family's prompts, in tokens; newer ones weigh more. */
interface Beginning {
  tokens: number;
  calls: number;
}

/**
 * Learns the shared prefix of each family from the tokens that engines found cached when programs began.
 *
 * Agents of one make begin with the same thousands of tokens, which an engine caches once. A gate that counts each context
 * in full admits half as many programs as fit, or fewer. A program's first prompt is the evidence: all its cached tokens
 * came from other programs. After a restart a program's own cache looks the same, so the declared length is a bound.
 */
export class SharedPrefixes {
  readonly #families = new Recent<number, Beginning>(() => ({ tokens: 0, calls: 0 }), FAMILIES_MAX);

  /** Predicted length of the prefix that a prompt shares with its family, in tokens; 0 when unknown. */
  expectedTokens(family: Family | undefined, promptTokens: number): number {
    const tokens = family === undefined ? 0 : (this.#families.peek(family.id)?.tokens ?? 0);
    return Math.min(promptTokens, Math.round(tokens));
  }

  /** A program has its first answer. @param cachedTokens prompt tokens found cached, by the engine's count */
  began(family: Family | undefined, cachedTokens: number): void {
    if (family === undefined) return;
    const known = this.#families.get(family.id);
    known.calls = Math.min(known.calls + 1, MEMORY_CALLS);
    known.tokens += (Math.min(cachedTokens, family.tokens) - known.tokens) / known.calls;
  }
}

/** Shared prefixes of a set of contexts, each counted once at the longest length that any of its contexts has. */
export class SharedHoldings {
  tokens = 0;
  /** For each family: number of contexts by prefix length. Lengths differ only while they are being learnt. */
  readonly #families = new Map<number, Map<number, number>>();

  /** Tokens that one more such context would add; 0 without a family. */
  missingTokens(family: Family | undefined, sharedTokens: number): number {
    return family === undefined ? 0 : Math.max(0, sharedTokens - longest(this.#families.get(family.id)));
  }

  /** @param change whether such a context comes or goes */
  count(family: Family | undefined, sharedTokens: number, change: 1 | -1): void {
    if (family === undefined) return;
    const lengths = this.#families.get(family.id) ?? new Map<number, number>();
    this.#families.set(family.id, lengths);
    this.tokens -= longest(lengths);
    const contexts = (lengths.get(sharedTokens) ?? 0) + change;
    if (contexts === 0) lengths.delete(sharedTokens);
    else lengths.set(sharedTokens, contexts);
    this.tokens += longest(lengths);
    if (lengths.size === 0) this.#families.delete(family.id);
  }
}

function longest(lengths: ReadonlyMap<number, number> | undefined): number {
  let most = 0;
  for (const tokens of lengths?.keys() ?? []) most = Math.max(most, tokens);
  return most;
}
