/**
 * One agent program as a workload: which calls its client makes, when, and how long they are. The simulator reads the
 * lengths, the load tester and the demo also what is said. Every reader of a recording makes these, and `docs/PROGRAMS.md`
 * describes them as a file.
 */
export interface AgentProgram {
  /** Not empty, and different for each program of a trace. */
  readonly id: string;
  /**
   * When it arrives, in milliseconds since a moment that all programs of its trace share: what replays them counts from
   * the first of them. Absent: its trace does not tell.
   */
  readonly arrivalMs?: number;
  /** Which workload of a mixture it belongs to. Absent: there is one only. */
  readonly workload?: string;
  /** At least one. Each stands behind all calls that it needs, so that the order is one in which they can be made. */
  readonly calls: readonly AgentCall[];
}

export interface AgentCall {
  /** Indexes of the calls that must have ended before this one: several for a join, none for one that opens the program. */
  readonly after: readonly number[];
  /** Milliseconds from the last of their ends, or from the program's arrival: what a tool or a person takes. */
  readonly gapMs: number;
  /** The line of work that it belongs to: '' for the root, a sub-agent's name, `a/b` for a sub-agent `b` of `a`. */
  readonly thread: string;
  /** Tokens of the whole prompt, with all that it shares. 0 and very many are kept as they were recorded. */
  readonly promptTokens: number;
  /** Tokens that the answer costs, unseen reasoning included. */
  readonly outputTokens: number;
  /** What its prompt begins with that other prompts begin with too. Absent: nothing that is known. */
  readonly prefix?: Prefix;
  /** What its answer asks for. Their times are part of the gaps of the calls behind it. */
  readonly tools?: readonly ToolUse[];
  /**
   * What the conversation gains before this call. It begins as that of the call in `prefix`, whole, with its answer;
   * where the prefix names none, these are all there is. Absent: only lengths are known.
   */
  readonly messages?: readonly AgentMessage[];
  /** The answer word for word; absent: whatever the engine says. */
  readonly answer?: string;
}

/**
 * - the conversation of an earlier call of this program, its prompt and then its answer, of which it keeps the first tokens
 * - the first tokens of a text that calls of all programs may begin with, such as a system prompt, by its name
 * - KV blocks of so many tokens each, the last for what is left: in calls of all programs of the trace, the same id is
 *   the same text behind the same text
 */
export type Prefix =
  | { readonly call: number; readonly tokens: number }
  | { readonly name: string; readonly tokens: number }
  | { readonly blocks: readonly number[]; readonly blockTokens: number };

export interface ToolUse {
  readonly name: string;
  /** How long it ran; absent: not recorded. */
  readonly ms?: number;
  /** What its result refers to, and its arguments as text, where the conversation is recorded. */
  readonly id?: string;
  readonly arguments?: string;
}

export interface AgentMessage {
  readonly role: 'system' | 'user' | 'tool';
  readonly content: string;
  /** Of a tool's result: the id of its use. */
  readonly tool?: string;
}

/** Calls one after the other in the root thread. */
export function inChain(calls: readonly Omit<AgentCall, 'after' | 'thread'>[]): AgentCall[] {
  return calls.map((call, index) => ({ after: index === 0 ? [] : [index - 1], thread: '', ...call }));
}

/**
 * How much of the conversation of the call before it a prompt keeps, where only lengths are known: all of it where the
 * prompt is long enough for the answer too, else only what was the prompt.
 */
export function keptTokens(before: Pick<AgentCall, 'promptTokens' | 'outputTokens'>, promptTokens: number): number {
  const all = before.promptTokens + before.outputTokens;
  return promptTokens >= all ? all : Math.min(before.promptTokens, promptTokens);
}
