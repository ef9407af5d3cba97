import { createHash } from 'node:crypto';
import { inChain, type AgentCall, type AgentMessage, type Prefix, type ToolUse } from '../program.js';

/** Assumed bytes of text per token where a recording does not count tokens. */
const BYTES_PER_TOKEN = 4;

export interface Turn {
  /** At least one. */
  readonly messages: readonly AgentMessage[];
  readonly answer: string;
  readonly tools?: readonly ToolUse[];
  readonly gapMs: number;
  /** As recorded; absent: counted from the text. */
  readonly promptTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /**
   * Whether part of the answer is reasoning, which is not sent back. The text after it then moves and is no longer
   * cached.
   */
  readonly isReasoned?: boolean;
}

/**
 * The calls of a conversation that only grows. Each shares the previous prompt, and the answer unless that has
 * reasoning. The first one shares its system prompt with all programs of the same system prompt.
 */
export function conversation(turns: readonly Turn[]): AgentCall[] {
  let text = 0;
  let before: { readonly promptTokens: number; readonly keptTokens: number } | undefined;
  const calls = turns.map((turn, index) => {
    const { messages, answer, tools = [], gapMs, isReasoned = false } = turn;
    text += messages.reduce((sum, { content }) => sum + textTokens(content), 0);
    const said = [answer, ...tools.flatMap((use) => [use.name, use.arguments ?? ''])];
    const saidTokens = said.reduce((sum, part) => sum + textTokens(part), 0);
    const { promptTokens = text, outputTokens = saidTokens } = turn;
    text += saidTokens;
    const prefix: Prefix | undefined =
      before === undefined
        ? systemPrefix(messages[0], promptTokens)
        : { call: index - 1, tokens: Math.min(promptTokens, before.keptTokens) };
    before = { promptTokens, keptTokens: promptTokens + (isReasoned ? 0 : outputTokens) };
    return {
      gapMs,
      promptTokens,
      outputTokens,
      ...(prefix && prefix.tokens > 0 && { prefix }),
      ...(tools.length > 0 && { tools }),
      messages,
      answer,
    };
  });
  return inChain(calls);
}

function systemPrefix(message: AgentMessage | undefined, promptTokens: number) {
  if (message?.role !== 'system') return undefined;
  const name = `system-${createHash('sha256').update(message.content).digest('hex').slice(0, 12)}`;
  return { name, tokens: Math.min(promptTokens, textTokens(message.content)) };
}

/** Tokens of a text, where a recording does not count them. */
const textTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
