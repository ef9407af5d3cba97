import { z } from 'zod';
import { count, seconds, toMs } from './numbers.js';
import { inChain, keptTokens, type AgentProgram } from '../program.js';
import { oneEach } from './records.js';

const session = z.object({
  session: z.string().min(1),
  calls: z.array(
    z.object({
      /** Seconds since the session began. */
      t: seconds,
      latency: seconds,
      prompt: count,
      output: count,
      tools: z.array(z.tuple([z.string().min(1), seconds])),
    }),
  ),
});

/**
 * Claude Code on SWE-rebench tasks, as measured by AgentCgroup: a session a line, with each tool's own time.
 *
 * Gaps last from a call's end (`t` + `latency`) to the next one's `t`: the tools' total time, or the longest of
 * parallel tools. Shared tokens are inferred from the lengths: see `keptTokens`.
 */
export const agentCgroup = oneEach(session, ({ session: id, calls: recorded }): AgentProgram => {
  const calls = recorded.toSorted((a, b) => a.t - b.t);
  return {
    id,
    calls: inChain(
      calls.map(({ t, prompt: promptTokens, output: outputTokens, tools }, index) => {
        const before = calls[index - 1];
        const gapMs = before === undefined ? toMs(t) : Math.max(0, toMs(t - before.t - before.latency));
        const kept = before && keptTokens({ promptTokens: before.prompt, outputTokens: before.output }, promptTokens);
        return {
          gapMs,
          promptTokens,
          outputTokens,
          ...(kept && { prefix: { call: index - 1, tokens: kept } }),
          ...(tools.length > 0 && { tools: tools.map(([name, took]) => ({ name, ms: toMs(took) })) }),
        };
      }),
    ),
  };
});
