import { z } from 'zod';
import { conversation, type Turn } from './conversation.js';
import { count, seconds } from './numbers.js';
import type { AgentMessage, AgentProgram } from '../program.js';
import { oneEach } from './records.js';

/** Time of the recorded model, so that the rest of the time between two calls is the tool's: see `gapOf`. */
const LLM_BASE_MS = 1000;
const LLM_TOKEN_MS = 10;

const asked = z.object({ role: z.enum(['system', 'user', 'tool']), content: z.string() });
const answered = z.object({
  role: z.literal('assistant'),
  content: z.string(),
  extra: z.object({
    response: z.object({
      created: seconds,
      usage: z.object({
        prompt_tokens: count.optional(),
        completion_tokens: count,
        completion_tokens_details: z.object({ reasoning_tokens: count.nullish() }).nullish(),
      }),
    }),
  }),
});
const trajectory = z.object({
  instance_id: z.string().min(1),
  messages: z.array(z.discriminatedUnion('role', [asked, answered])),
});

/**
 * Programs recorded by mini-swe-agent: a trajectory a line, with all messages.
 *
 * Programs arrive at their first call, in milliseconds since 1970. Gaps are the time between two calls, less the
 * model's time for the first: see `gapOf`.
 */
export const miniSweAgent = oneEach(trajectory, ({ instance_id: id, messages }, record) => {
  const turns: Turn[] = [];
  let pending: AgentMessage[] = [];
  let before: Response | undefined;
  let arrivalMs = 0;
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') {
      pending.push(message);
      continue;
    }
    if (pending.length === 0) return record.fault(`messages.${index}`, 'an answer to nothing');
    const { response } = message.extra;
    const { prompt_tokens, completion_tokens, completion_tokens_details } = response.usage;
    if (before === undefined) arrivalMs = response.created * 1000;
    turns.push({
      messages: pending,
      answer: message.content,
      gapMs: before === undefined ? 0 : gapOf(before, response),
      promptTokens: prompt_tokens,
      outputTokens: completion_tokens,
      isReasoned: (completion_tokens_details?.reasoning_tokens ?? 0) > 0,
    });
    before = response;
    pending = [];
  }
  return { id, arrivalMs, calls: conversation(turns) } satisfies AgentProgram;
});

type Response = z.output<typeof answered>['extra']['response'];

/**
 * Time of the tool between two calls: from one's creation to the next one's, less the model's time. The model's time is
 * one second and 10 ms a token: among calls of similar length, the fastest tenth lie on that line. `created` is the
 * start of a call, as the interval grows with its own answer and not with the next.
 */
function gapOf(response: Response, next: Response): number {
  const llmMs = LLM_BASE_MS + LLM_TOKEN_MS * response.usage.completion_tokens;
  return Math.max(0, (next.created - response.created) * 1000 - llmMs);
}
