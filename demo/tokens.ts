import type { AgentProgram } from '../workloads/index.js';

/**
 * Tokens of each call's prompt on an engine with this many bytes of text per token: the conversation so far, with its
 * answers. (A recording's own counts are those of its model's tokenizer.)
 */
export function textTokens(program: AgentProgram, bytesPerToken: number): number[] {
  let tokens = 0;
  return program.calls.map(({ messages = [], answer, outputTokens }) => {
    for (const { content } of messages) tokens += Buffer.byteLength(content) / bytesPerToken;
    const prompt = tokens;
    tokens += answer === undefined ? outputTokens : Buffer.byteLength(answer) / bytesPerToken;
    return prompt;
  });
}
