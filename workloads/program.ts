/**
 * One agent program as a workload: which calls its client makes, when, and how long they are. The simulator reads the
 * lengths; the load tester also reads the texts. Every reader of a recording makes these, and
 * `docs/JSON.md` describes them as a file.
 */
export interface AgentProgram {
  /** Not empty, and unique in its trace. */
  readonly id: string;
  /**
   * Time of arrival, in milliseconds since a moment common to all programs of its trace. A replay counts from the first
   * of them. Absent: unknown.
   */
  readonly arrivalMs?: number;
  /** Its workload in a mixture. Absent: there is only one. */
  readonly workload?: string;
  /** Whose program it is. Absent: all programs are of one tenant. */
  readonly tenant?: string;
  /** Whether its calls take only the room that others leave, as the lines of a batch. */
  readonly background?: true;
  /** At least one. Each comes after all calls that it needs, so that the calls can be made in this order. */
  readonly calls: readonly AgentCall[];
}

export interface AgentCall {
  /** Indexes of the calls that must have ended before this one: several for a join, none for one that opens the program. */
  readonly after: readonly number[];
  /** Milliseconds from the last of their ends, or from the program's arrival: the time of a tool or a person. */
  readonly gapMs: number;
  /** Its thread: '' for the root, a sub-agent's name, `a/b` for a sub-agent `b` of `a`. */
  readonly thread: string;
  /** Tokens of the whole prompt, shared ones included. Zero and very large values are kept as recorded. */
  readonly promptTokens: number;
  /** Tokens that the answer costs, unseen reasoning included. */
  readonly outputTokens: number;
  /** The beginning that its prompt shares with other prompts. Absent: unknown. */
  readonly prefix?: Prefix;
  /** Tool calls in its answer. Their times are part of the gaps of later calls. */
  readonly tools?: readonly ToolUse[];
  /**
   * Messages added to the conversation before this call. The conversation starts as the whole one of the call in
   * `prefix`, with its answer; without such a call it starts empty. Absent: only lengths are known.
   */
  readonly messages?: readonly AgentMessage[];
  /** The literal answer; absent: any output of the engine. */
  readonly answer?: string;
}

/**
 * - the conversation of an earlier call of this program, its prompt and then its answer, of which it keeps the first
 *   tokens
 * - the first tokens of a named text that all programs may share, such as a system prompt
 * - KV blocks of `blockTokens` tokens each, the last one perhaps shorter: throughout the trace, equal ids mean equal
 *   text after equal text
 */
export type Prefix =
  | { readonly call: number; readonly tokens: number }
  | { readonly name: string; readonly tokens: number }
  | { readonly blocks: readonly number[]; readonly blockTokens: number };

export interface ToolUse {
  readonly name: string;
  /** Its duration; absent: not recorded. */
  readonly ms?: number;
  /** The id that its result refers to, and its arguments as text, where the conversation is recorded. */
  readonly id?: string;
  readonly arguments?: string;
}

export interface AgentMessage {
  readonly role: 'system' | 'user' | 'tool';
  readonly content: string;
  /** For a tool's result: the id of its use. */
  readonly tool?: string;
}

/** @throws RangeError if there is no such call */
export function callAt({ id, calls }: AgentProgram, index: number): AgentCall {
  const call = calls[index];
  if (call === undefined) throw new RangeError(`program ${id} has no call ${index}`);
  return call;
}

/** Calls in sequence in the root thread. */
export const inChain = (calls: readonly Omit<AgentCall, 'after' | 'thread'>[]): AgentCall[] =>
  calls.map((call, index) => ({ after: index === 0 ? [] : [index - 1], thread: '', ...call }));

/**
 * Tokens that a prompt keeps of the previous call's conversation, where only lengths are known. All of it if the prompt
 * is long enough for the answer too, else only the previous prompt.
 */
export function keptTokens(before: Pick<AgentCall, 'promptTokens' | 'outputTokens'>, promptTokens: number): number {
  const all = before.promptTokens + before.outputTokens;
  return promptTokens >= all ? all : Math.min(before.promptTokens, promptTokens);
}
