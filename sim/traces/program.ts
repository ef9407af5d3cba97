/** One agent program as a workload: what its client sends, and how long its tools take. */
export interface AgentProgram {
  readonly id: string;
  readonly calls: readonly AgentCall[];
}

export interface AgentCall {
  /** What the conversation has gained since the last answer: tool results, or at first the task. */
  readonly messages: readonly AgentMessage[];
  /** The answer word for word; absent: whatever the engine says. */
  readonly answer?: string;
  /** Tokens that the answer costs, unseen reasoning included. */
  readonly outputTokens: number;
  /** From the answer to the next call: what the tool takes. 0 after the last. */
  readonly gapMs: number;
}

export interface AgentMessage {
  readonly role: 'system' | 'user' | 'tool';
  readonly content: string;
}

/** Tokens of each call's prompt: the conversation so far, answers included, at so many bytes of text a token. */
export function promptTokens(program: AgentProgram, bytesPerToken: number): number[] {
  let tokens = 0;
  return program.calls.map(({ messages, answer, outputTokens }) => {
    for (const { content } of messages) tokens += Buffer.byteLength(content) / bytesPerToken;
    const prompt = tokens;
    tokens += answer === undefined ? outputTokens : Buffer.byteLength(answer) / bytesPerToken;
    return prompt;
  });
}
