import { z } from 'zod';
import { count, milliseconds, optional, seconds, toMs } from './numbers.js';
import { keptTokens, type AgentCall, type AgentProgram, type Prefix } from '../program.js';
import { oneEach } from './records.js';

const request = z.object({
  type: z.enum(['n', 's']),
  /** Time of sending, in seconds since its thread began. */
  t: seconds,
  in: count,
  out: count,
  hash_ids: z.array(z.int()),
  api_time: optional(seconds),
  /** Seconds since the previous answer. */
  think_time: optional(seconds),
});
const subagent = z.object({
  type: z.literal('subagent'),
  agent_id: z.string().min(1),
  t: seconds,
  duration_ms: milliseconds,
  get requests() {
    return z.array(entry);
  },
});
const entry = z.discriminatedUnion('type', [request, subagent]);
const session = z.object({ id: z.string().min(1), block_size: z.int().min(1).max(1e6), requests: z.array(entry) });

type Request = z.output<typeof request>;
type SubAgent = z.output<typeof subagent>;

/**
 * Claude Code sessions as Weka's tools record them: a session a line, sub-agents nested in it.
 *
 * - Gaps are `think_time`. For a call with several predecessors, or without `think_time` or the `api_time` before it,
 *   the gap is the time from the last end to `t`. Without `api_time`, a call counts as ended when it was sent.
 * - A sub-agent's `t` is its end, so it began `duration_ms` before. The last call before that start requested it. The
 *   next call of its parent waits for it, unless sent before that end: such a sub-agent works in the background.
 * - A block's id stands for the prompt up to and including it, within one session. So two prompts share everything up
 *   to the last id that both have. A call that keeps all blocks of the previous call in its thread keeps its answer as
 *   well, when it is long enough for that.
 */
export const weka = oneEach(session, ({ id, block_size, requests }): AgentProgram => {
  const calls = new SessionCalls(block_size);
  calls.addThread('', requests, { after: [], gapMs: 0 });
  return { id, calls: calls.all };
});

type Link = Pick<AgentCall, 'after' | 'gapMs'>;
interface Before {
  readonly index: number;
  readonly ids: readonly number[];
}

class SessionCalls {
  readonly all: AgentCall[] = [];
  readonly #owners = new Map<number, number>();

  constructor(private readonly blockTokens: number) {}

  /**
   * Adds a thread's calls, each followed by the calls of the sub-agents that it requests.
   * @returns the index of its own last call; undefined: it has none
   */
  addThread(thread: string, entries: readonly (Request | SubAgent)[], opening: Link): number | undefined {
    const requests = entries.filter((each) => each.type !== 'subagent').sort((a, b) => a.t - b.t);
    const subagents = entries.filter((each) => each.type === 'subagent');
    const nameOf = ({ agent_id }: SubAgent) => (thread === '' ? agent_id : `${thread}/${agent_id}`);
    if (requests.length === 0) for (const each of subagents) this.addThread(nameOf(each), each.requests, opening);
    let link = opening;
    let before: Before | undefined;
    for (const [at, request] of requests.entries()) {
      const index = this.#add(thread, request, link, before);
      before = { index, ids: request.hash_ids };
      const next = requests[at + 1];
      const endedAt = request.t + (request.api_time ?? 0);
      const after = [index];
      let lastEndAt = endedAt;
      for (const each of subagents) {
        const startedAt = each.t - each.duration_ms / 1000;
        if ((at > 0 && startedAt < request.t) || startedAt >= (next?.t ?? Infinity)) continue;
        const start = { after: [index], gapMs: toMs(Math.max(0, startedAt - endedAt)) };
        const last = this.addThread(nameOf(each), each.requests, start);
        if (last === undefined || next === undefined || each.t > next.t) continue;
        after.push(last);
        lastEndAt = Math.max(lastEndAt, each.t);
      }
      if (next === undefined) break;
      const isByTimes = after.length > 1 || request.api_time === undefined || next.think_time === undefined;
      link = { after, gapMs: toMs(isByTimes ? Math.max(0, next.t - lastEndAt) : (next.think_time ?? 0)) };
    }
    return before?.index;
  }

  #add(thread: string, request: Request, link: Link, before: Before | undefined): number {
    const { in: promptTokens, out: outputTokens, hash_ids: ids } = request;
    const fresh = ids.findIndex((id) => !this.#owners.has(id));
    const known = fresh < 0 ? ids.length : fresh;
    const prefix = this.#prefix(promptTokens, ids, known, before);
    const index = this.all.length;
    this.all.push({ ...link, thread, promptTokens, outputTokens, ...(prefix && { prefix }) });
    for (const id of ids.slice(known)) if (!this.#owners.has(id)) this.#owners.set(id, index);
    return index;
  }

  #prefix(promptTokens: number, ids: readonly number[], known: number, before?: Before): Prefix | undefined {
    const owner = this.#owners.get(ids[known - 1] ?? NaN);
    const ownerTokens = owner === undefined ? 0 : (this.all[owner]?.promptTokens ?? 0);
    const tokens = Math.min(known * this.blockTokens, promptTokens, ownerTokens);
    const call = before && this.all[before.index];
    if (before && call && before.ids.length > 0 && ids[before.ids.length - 1] === before.ids.at(-1)) {
      const kept = keptTokens(call, promptTokens);
      if (kept >= tokens) return { call: before.index, tokens: kept };
    }
    return owner === undefined || tokens === 0 ? undefined : { call: owner, tokens };
  }
}
