import { z } from 'zod';
import { textTokens } from './conversation.js';
import { TraceError } from './error.js';
import { count } from './numbers.js';
import type { AgentCall } from '../program.js';
import { parseEach, type Reader } from './records.js';

const usage = z.object({ prompt_tokens: count, completion_tokens: count });
const tree = z.object({
  idx: z.int(),
  steps: z.array(z.object({ ys: z.array(z.string()), new_ys: z.array(z.string()) })),
  /** Total of all programs of the file up to and including this one. */
  usage_so_far: usage,
});

type Usage = z.output<typeof usage>;

/**
 * A list of tree searches by Tree of Thoughts. Each step asks for proposals on all kept candidates in parallel. Then
 * all distinct proposals are rated in parallel. The next step waits for all ratings.
 *
 * Tokens are recorded only as a running sum over the file. Candidates and proposals count four bytes a token. The rest
 * of a program's prompt tokens, its instructions, is spread evenly over all its calls; the rest of its output tokens,
 * over its ratings. Calls of a kind share their instructions, across programs too. There are no times, so all gaps are
 * 0.
 */
export const treeOfThought: Reader = async function* (records) {
  let before: Usage | undefined = { prompt_tokens: 0, completion_tokens: 0 };
  for await (const parsed of parseEach(records, tree)) {
    if (parsed instanceof TraceError) {
      yield parsed;
      before = undefined;
      continue;
    }
    const { value, record } = parsed;
    const used = usedSince(before, value.usage_so_far);
    before = value.usage_so_far;
    if (used === undefined) yield record.fault('usage_so_far', 'a sum with the record before, which is malformed');
    else yield { program: { id: `tree-${value.idx}`, calls: makeCalls(value.steps, used) }, record };
  }
};

/** A sum smaller than the one before it has started anew. Undefined: the earlier sum is unknown. */
function usedSince(before: Usage | undefined, now: Usage): Usage | undefined {
  if (before === undefined) return undefined;
  const prompt_tokens = now.prompt_tokens - before.prompt_tokens;
  const completion_tokens = now.completion_tokens - before.completion_tokens;
  return prompt_tokens < 0 || completion_tokens < 0 ? now : { prompt_tokens, completion_tokens };
}

interface Draft {
  readonly kind: 'propose' | 'rate';
  readonly after: readonly number[];
  /** Tokens of its candidate. */
  readonly candidateTokens: number;
  /** Tokens of its proposals. */
  readonly proposedTokens: number;
}

function makeCalls(steps: z.output<typeof tree>['steps'], used: Usage): AgentCall[] {
  const drafts: Draft[] = [];
  let after: readonly number[] = [];
  const add = (kind: Draft['kind'], made: readonly Omit<Draft, 'kind' | 'after'>[]) => {
    const from = drafts.length;
    drafts.push(...made.map((each) => ({ kind, after, ...each })));
    if (made.length > 0) after = made.map((_, index) => from + index);
  };
  for (const { ys, new_ys } of steps) {
    add(
      'propose',
      ys.map((y) => ({ candidateTokens: textTokens(y), proposedTokens: proposedTokens(y, ys, new_ys) })),
    );
    add(
      'rate',
      [...new Set(new_ys)].map((y) => ({ candidateTokens: textTokens(y), proposedTokens: 0 })),
    );
  }
  const total = (key: 'candidateTokens' | 'proposedTokens') => drafts.reduce((sum, draft) => sum + draft[key], 0);
  const rates = drafts.filter(({ kind }) => kind === 'rate').length;
  const instructions = Math.max(0, Math.floor((used.prompt_tokens - total('candidateTokens')) / drafts.length));
  const rating = Math.max(1, Math.floor((used.completion_tokens - total('proposedTokens')) / rates));
  return drafts.map(({ kind, candidateTokens, proposedTokens, after }) => ({
    after,
    gapMs: 0,
    thread: '',
    promptTokens: instructions + candidateTokens,
    outputTokens: kind === 'rate' ? rating : Math.max(1, proposedTokens),
    ...(instructions > 0 && { prefix: { name: `tree-of-thought-${kind}`, tokens: instructions } }),
  }));
}

/** Tokens that proposals add to their candidate: the longest candidate with which a proposal begins. */
function proposedTokens(y: string, ys: readonly string[], proposals: readonly string[]): number {
  const longer = ys.filter((other) => other.length > y.length);
  const own = proposals.filter((each) => each.startsWith(y) && !longer.some((other) => each.startsWith(other)));
  return own.reduce((sum, each) => sum + textTokens(each.slice(y.length)), 0);
}
