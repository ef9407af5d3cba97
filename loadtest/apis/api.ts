export type JsonObject = Readonly<Record<string, unknown>>;

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** One message of a conversation. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text: string;
  /** Whether the text is only words and spaces, which need no escaping in JSON. */
  readonly isPlain?: boolean;
  /** For an answer. */
  readonly toolCalls?: readonly ToolCall[];
  /** For a tool's result: the id of its call. */
  readonly toolId?: string;
}

/** The request of a call. */
export interface Ask {
  readonly model: string;
  /** The messages of its conversation, each as returned by `item`. */
  readonly items: readonly string[];
  /** Names of functions that the model may call. */
  readonly tools: readonly string[];
  readonly outputTokens: number;
  /** Whether a shorter answer is not acceptable either. */
  readonly isExact: boolean;
  readonly stream: boolean;
  /** Fields that identify the client's program. */
  readonly fields: JsonObject;
}

/** An answer as it arrives. Tokens are NaN until the target reports them. */
export interface Answer {
  text: string;
  toolCalls: ToolCall[];
  promptTokens: number;
  outputTokens: number;
  cachedTokens: number;
  /** Events with a part of the answer: one a token, if the server sends each separately. */
  parts: number;
}

export const newAnswer = (): Answer => ({
  text: '',
  toolCalls: [],
  promptTokens: NaN,
  outputTokens: NaN,
  cachedTokens: NaN,
  parts: 0,
});

/** Meaning of a stream's event: a part of the answer, its end, an error, something else, or nothing of this API. */
export type Step = 'part' | 'done' | 'error' | 'other' | 'alien';

/**
 * Answers the question "how does this API write a conversation, and what does it call an answer?". One file an API. All
 * are stateless.
 */
export interface LoadApi {
  readonly path: string;
  /** A message as JSON text, or as the part of one that its API uses. */
  item(message: Message): string;
  body(ask: Ask): string;
  /** Reads the data of one event, which is JSON, into the answer. */
  event(data: JsonObject, answer: Answer): Step;
  /** Reads a whole answer. Returns false when the body is not an answer. */
  whole(body: JsonObject, answer: Answer): boolean;
  /** Whether its streams end with `[DONE]`. */
  readonly endsWithMark: boolean;
}
