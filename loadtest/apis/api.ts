import { chat } from './chat.js';
import { completions } from './completions.js';
import { messages } from './messages.js';
import { responses } from './responses.js';

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
  /** The text is words and spaces: it is JSON as it is. */
  readonly isPlain?: boolean;
  /** Of an answer. */
  readonly toolCalls?: readonly ToolCall[];
  /** Of a tool's result: the id of its call. */
  readonly toolId?: string;
}

/** What a call asks for. */
export interface Ask {
  readonly model: string;
  /** The messages of its conversation, each as `item` gave it. */
  readonly items: readonly string[];
  /** Names of functions that the model may call. */
  readonly tools: readonly string[];
  readonly outputTokens: number;
  /** Not one token less, either. */
  readonly isExact: boolean;
  readonly stream: boolean;
  /** Fields of the identity. */
  readonly fields: JsonObject;
}

/** An answer as it comes in. Tokens are NaN until the target tells them. */
export interface Answer {
  text: string;
  toolCalls: ToolCall[];
  promptTokens: number;
  outputTokens: number;
  cachedTokens: number;
  /** Events that brought a part of the answer: as many as tokens, where a server sends each by itself. */
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

/** What an event of a stream was: a part of the answer, its end, an error, something else, or nothing of this API. */
export type Step = 'part' | 'done' | 'error' | 'other' | 'alien';

/**
 * Answers the question "how does this API write a conversation, and what does it call an answer?". One file an API;
 * none keeps anything between two calls of its functions.
 */
export interface LoadApi {
  readonly path: string;
  /** A message as JSON text, or as the part of one that its API makes of it. */
  item(message: Message): string;
  body(ask: Ask): string;
  /** Takes the data of one event, which is JSON. */
  event(data: JsonObject, answer: Answer): Step;
  /** Takes a whole answer. False: it is none. */
  whole(body: JsonObject, answer: Answer): boolean;
  /** Its streams end with `[DONE]`. */
  readonly endsWithMark: boolean;
}

export const APIS = { chat, completions, responses, messages } as const satisfies Readonly<Record<string, LoadApi>>;
export type ApiName = keyof typeof APIS;
export const API_NAMES = Object.keys(APIS) as ApiName[];
