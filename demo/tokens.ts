import type { AgentProgram } from '../workloads/index.js';

/**
 * Tokens of each call's prompt on an engine with so many bytes of text a token: the conversation so far, with its
 * answers. (What a recording says of them is what its own model's tokenizer made of the text.)
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
