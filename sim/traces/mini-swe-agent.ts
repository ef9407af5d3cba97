import { z } from 'zod';
import { readLines, TraceError, type Line } from './lines.js';
import type { AgentCall, AgentMessage, AgentProgram } from './program.js';

/** What the recorded model took, so that the rest of the time between two calls is the tool's: see `gapOf`. */
const LLM_BASE_MS = 1000;
const LLM_TOKEN_MS = 10;

const asked = z.object({ role: z.enum(['system', 'user', 'tool']), content: z.string() });
const answered = z.object({
  role: z.literal('assistant'),
  content: z.string(),
  extra: z.object({
    response: z.object({
      /** Unix time in seconds. */
      created: z.number().min(0).max(1e11),
      usage: z.object({ completion_tokens: z.int().min(1).max(1e7) }),
    }),
  }),
});
const trajectory = z.object({
  instance_id: z.string().min(1),
  messages: z.array(z.discriminatedUnion('role', [asked, answered])),
});

/**
 * Programs recorded by mini-swe-agent: JSON lines, one trajectory each, plain or `.gz`; read one at a time.
 * @param onMalformed is told of each line that cannot be used, which is then left out; absent: such a line is thrown.
 * @throws TraceError `unreadable` when the file cannot be read.
 */
export async function* readMiniSweAgent(
  file: string,
  onMalformed: (error: TraceError) => void = (error) => {
    throw error;
  },
): AsyncGenerator<AgentProgram> {
  for await (const line of readLines(file)) {
    const program = line instanceof TraceError ? line : readProgram(file, line);
    if (program instanceof TraceError) onMalformed(program);
    else yield program;
  }
}

function readProgram(file: string, { number, text }: Line): AgentProgram | TraceError {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return new TraceError('not_json', file, number, '', (error as SyntaxError).message);
  }
  const result = trajectory.safeParse(json);
  if (!result.success) {
    const issue = result.error.issues[0];
    return new TraceError('bad_field', file, number, issue?.path.join('.') ?? '', issue?.message ?? 'malformed');
  }
  const { instance_id: id, messages } = result.data;
  const calls: AgentCall[] = [];
  let pending: AgentMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') {
      pending.push(message);
      continue;
    }
    const next = messages.slice(index + 1).find((later) => later.role === 'assistant');
    if (pending.length === 0) {
      return new TraceError('bad_field', file, number, `messages.${index}`, 'an answer to nothing');
    }
    calls.push({
      messages: pending,
      answer: message.content,
      outputTokens: message.extra.response.usage.completion_tokens,
      gapMs: next === undefined ? 0 : gapOf(message.extra.response, next.extra.response),
    });
    pending = [];
  }
  if (calls.length === 0) return new TraceError('bad_field', file, number, 'messages', 'no answer in it');
  return { id, calls };
}

type Response = z.output<typeof answered>['extra']['response'];

/**
 * Time of the tool between two calls: from one's creation to the next one's, less the time of the model, for which the
 * recordings give one second and 10 ms a token. (Of calls with like numbers of tokens, the fastest tenth lie on that
 * line; `created` is when a call begins, as the interval grows with its own answer and not with the next.)
 */
function gapOf(response: Response, next: Response): number {
  const llmMs = LLM_BASE_MS + LLM_TOKEN_MS * response.usage.completion_tokens;
  return Math.max(0, (next.created - response.created) * 1000 - llmMs);
}
