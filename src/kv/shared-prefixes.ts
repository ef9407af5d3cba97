import type { Family } from '../protocol/events.js';
import type { Call } from '../programs/call.js';

/** Families remembered; the one that was longest without a new program is forgotten. */
const FAMILIES_MAX = 4096;
/** First calls that are remembered of a family. */
const MEMORY_CALLS = 64;

/** Mean shared beginning of the prompts of one family, newer ones weighing more. */
interface Beginning {
  tokens: number;
  calls: number;
}

/**
 * The tokens that programs of one family have in common, learnt from what engines found in their caches when programs began.
 *
 * Agents of one make begin with the same instructions and tool schemas, thousands of tokens that an engine keeps once for
 * all of them. A gate that counts each context in full lets in half as many programs as there is room for, or fewer. A
 * program's first prompt tells: all that is cached of it came from others. After a restart a program's own cache looks the
 * same, so no more counts as shared than the family's beginning is long. Calls without a family share nothing, nor do
 * engines that do not say what they found cached.
 */
export class SharedPrefixes {
  readonly #families = new Map<number, Beginning>();

  /** The tokens of the call's prompt that others of its family hold as well. */
  expectedTokens({ family, promptTokens }: Call): number {
    const tokens = family === undefined ? 0 : (this.#families.get(family.id)?.tokens ?? 0);
    return Math.min(promptTokens, Math.round(tokens));
  }

  /** A program's first call has its answer. @param cachedTokens of its prompt, as the engine says */
  began({ family }: Call, cachedTokens: number): void {
    if (family === undefined) return;
    const known = this.#families.get(family.id) ?? { tokens: 0, calls: 0 };
    known.calls = Math.min(known.calls + 1, MEMORY_CALLS);
    known.tokens += (Math.min(cachedTokens, family.tokens) - known.tokens) / known.calls;
    this.#families.delete(family.id);
    this.#families.set(family.id, known);
    if (this.#families.size <= FAMILIES_MAX) return;
    for (const oldest of this.#families.keys()) {
      this.#families.delete(oldest);
      break;
    }
  }
}

/** The beginnings that some set of contexts share, each counted once: as long as the longest of its contexts says. */
export class SharedHoldings {
  /** Of all families together. */
  tokens = 0;
  /** By family: how many contexts say that it is how long. They differ only while that is learnt. */
  readonly #families = new Map<number, Map<number, number>>();

  /** Tokens that one more such context would add. */
  missingTokens(family: Family | undefined, sharedTokens: number): number {
    return family === undefined ? 0 : Math.max(0, sharedTokens - longest(this.#families.get(family.id)));
  }

  add(family: Family | undefined, sharedTokens: number): void {
    if (family !== undefined) this.#change(family.id, sharedTokens, 1);
  }

  delete(family: Family | undefined, sharedTokens: number): void {
    if (family !== undefined) this.#change(family.id, sharedTokens, -1);
  }

  #change(id: number, sharedTokens: number, change: 1 | -1): void {
    const lengths = this.#families.get(id) ?? new Map<number, number>();
    this.#families.set(id, lengths);
    this.tokens -= longest(lengths);
    const contexts = (lengths.get(sharedTokens) ?? 0) + change;
    if (contexts === 0) lengths.delete(sharedTokens);
    else lengths.set(sharedTokens, contexts);
    this.tokens += longest(lengths);
    if (lengths.size === 0) this.#families.delete(id);
  }
}

function longest(lengths: ReadonlyMap<number, number> | undefined): number {
  let most = 0;
  for (const tokens of lengths?.keys() ?? []) most = Math.max(most, tokens);
  return most;
}
