import { z } from 'zod';
import { count, milliseconds } from './numbers.js';
import type { AgentCall, AgentProgram } from '../program.js';
import type { TraceError } from './pieces.js';
import { oneEach, type TraceRecord } from './records.js';

const index = z.int().min(0);
const name = z.string().min(1);
const prefix = z.union([
  z.strictObject({ call: index, tokens: count }),
  z.strictObject({ name, tokens: count }),
  z.strictObject({ blocks: z.array(index), blockTokens: count.min(1) }),
]);
const tool = z.strictObject({
  name,
  ms: milliseconds.exactOptional(),
  id: z.string().exactOptional(),
  arguments: z.string().exactOptional(),
});
const message = z.strictObject({
  role: z.enum(['system', 'user', 'tool']),
  content: z.string(),
  tool: z.string().exactOptional(),
});
const call = z.strictObject({
  after: z.array(index).exactOptional(),
  gapMs: milliseconds.default(0),
  thread: z.string().default(''),
  promptTokens: count,
  outputTokens: count,
  prefix: prefix.exactOptional(),
  tools: z.array(tool).exactOptional(),
  messages: z.array(message).min(1).exactOptional(),
  answer: z.string().exactOptional(),
});
const line = z.strictObject({
  maitredProgram: z.literal(1),
  id: name,
  arrivalMs: milliseconds.exactOptional(),
  workload: name.exactOptional(),
  tenant: name.exactOptional(),
  calls: z.array(call),
});

/** Our own format, a program a line: see `docs/JSON.md`. */
export const maitred = oneEach(line, ({ id, arrivalMs, workload, tenant, calls: given }, record) => {
  const calls = given.map((each, at): AgentCall => ({ ...each, after: each.after ?? usualAfter(at) }));
  for (const [at, each] of calls.entries()) {
    const fault = check(each, at, calls, record);
    if (fault !== undefined) return fault;
  }
  return {
    id,
    ...(arrivalMs !== undefined && { arrivalMs }),
    ...(workload !== undefined && { workload }),
    ...(tenant !== undefined && { tenant }),
    calls,
  } satisfies AgentProgram;
});

/** A program as a line of our own format, without its end. */
export function programLine({ calls, ...rest }: AgentProgram): string {
  const lines = calls.map(({ after, gapMs, thread, ...each }, at) => ({
    ...(after.join() !== usualAfter(at).join() && { after }),
    ...(gapMs > 0 && { gapMs }),
    ...(thread !== '' && { thread }),
    ...each,
  }));
  return JSON.stringify({ maitredProgram: 1, ...rest, calls: lines });
}

const usualAfter = (at: number): number[] => (at === 0 ? [] : [at - 1]);

/** Checks that the shape alone cannot express: a call must fit the calls before it. */
function check(call: AgentCall, at: number, calls: readonly AgentCall[], record: TraceRecord): TraceError | undefined {
  const { after, promptTokens, prefix, messages } = call;
  const fault = (field: string, problem: string) => record.fault(`calls.${at}.${field}`, problem);
  const named = new Set<number>();
  for (const [place, earlier] of after.entries()) {
    if (earlier >= at) return fault(`after.${place}`, 'not a call before this one');
    if (named.has(earlier)) return fault(`after.${place}`, 'named twice');
    named.add(earlier);
  }
  if (prefix === undefined) return undefined;
  if ('blocks' in prefix) {
    const blocksMax = Math.ceil(promptTokens / prefix.blockTokens);
    return prefix.blocks.length > blocksMax ? fault('prefix.blocks', 'more than the prompt has') : undefined;
  }
  if (prefix.tokens > promptTokens) return fault('prefix.tokens', 'more than the prompt has');
  if ('name' in prefix) return undefined;
  const kept = prefix.call < at ? calls[prefix.call] : undefined;
  if (kept === undefined) return fault('prefix.call', 'not a call before this one');
  if (prefix.tokens > kept.promptTokens + kept.outputTokens) return fault('prefix.tokens', 'more than that call has');
  if (messages !== undefined && kept.messages === undefined) return fault('prefix.call', 'a call without messages');
  const isAnswerKept = messages !== undefined || prefix.tokens > kept.promptTokens;
  if (isAnswerKept && !isBehind(calls, at, prefix.call))
    return fault('prefix.call', 'its answer is kept, but not waited for');
  return undefined;
}

/** Whether a call depends on an earlier one, directly or indirectly. */
function isBehind(calls: readonly AgentCall[], at: number, earlier: number): boolean {
  const seen = new Set<number>();
  const open = [at];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const each of calls[next]?.after ?? []) {
      if (each === earlier) return true;
      if (each < earlier || seen.has(each)) continue;
      seen.add(each);
      open.push(each);
    }
  }
  return false;
}
