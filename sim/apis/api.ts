import type { Sequence } from '../engine/sequence.js';
import type { Answer, Delta, Narrator } from '../text/answer.js';
import type { ScriptedAnswer, ToolChoice } from '../text/choose.js';
import type { Message, Tool } from '../text/conversation.js';
import { ApiError } from './errors.js';
import { boolean, checkSampling, integer, isObject, scriptedAnswer, string, type JsonObject } from './fields.js';

/** One prompt to be answered: its tokens, and what the choice of an answer looks at. */
export interface Prompt {
  readonly ids: readonly number[];
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  /** JSON schema the answer must satisfy; absent: free text. */
  readonly schema?: unknown;
  /** The beginning of the answer, when the prompt ends with it. */
  readonly begun?: string;
}

/** What the body asks for, apart from the prompts. */
export interface Terms {
  readonly body: JsonObject;
  readonly model: string | undefined;
  readonly stream: boolean;
  /** Answers to each prompt. */
  readonly n: number;
  readonly maxTokens: number | undefined;
  readonly minTokens: number;
  readonly ignoreEos: boolean;
  readonly priority: number;
  readonly cacheSalt: string;
  readonly includeUsage: boolean;
  /** Usage so far on each chunk; only along with the usage at the end. */
  readonly continuousUsage: boolean;
  readonly returnTokenIds: boolean;
  readonly scripted: ScriptedAnswer | undefined;
}

export interface Ask {
  readonly terms: Terms;
  readonly prompts: readonly Prompt[];
}

/** One answer being generated. */
export interface Choice {
  readonly index: number;
  readonly answer: Answer;
  readonly narrator: Narrator;
  readonly promptTokens: number;
  /** Kept only when the client wants token ids back. */
  readonly promptIds: readonly number[];
  readonly sequence: Sequence;
  /** Whether its first delta has been written. */
  opened: boolean;
}

export interface Usage {
  readonly prompt: number;
  readonly cached: number;
  readonly output: number;
}

/** One call being answered, as the formatters see it. */
export interface Reply {
  /** Hexadecimal, unique; each API puts its prefix before it. */
  readonly id: string;
  /** Unix time in whole seconds. */
  readonly createdAt: number;
  readonly model: string;
  readonly terms: Terms;
  readonly choices: readonly Choice[];
  /** Absent when a fault hides it. */
  usage(): Usage | undefined;
  /** Engine-side times in milliseconds, as under `--enable-per-request-metrics`; absent where there are several answers. */
  metrics(): JsonObject | undefined;
  readonly status: 'in_progress' | 'completed' | 'cancelled';
}

/** Writes one call's answer in the form of one API. Events are whole SSE events, framed. */
export interface Formatter {
  /** Events that go out before the first token. */
  opening(): string[];
  delta(choice: Choice, deltas: readonly Delta[], tokenIds: readonly number[]): string[];
  /** Events that end one choice. */
  finish(choice: Choice): string[];
  /** Events that end the stream. */
  closing(): string[];
  /** The answer in one piece, as far as it has come. */
  whole(): JsonObject;
}

/** Conversations that earlier responses can be continued from. */
export type History = (responseId: string) => readonly Message[] | undefined;

/**
 * Answers the question "what does this API call a prompt, an answer, an error?". One file an API.
 */
export interface Api {
  /** @throws ApiError 400 with the field to blame. */
  read(body: JsonObject, history: History): Ask;
  format(reply: Reply): Formatter;
  error(error: ApiError): object;
}

/** The terms that all APIs spell alike. */
export function readTerms(body: JsonObject, maxTokens: number | undefined): Terms {
  checkSampling(body);
  const stream = boolean(body, 'stream');
  const streamOptions = isObject(body['stream_options']) ? body['stream_options'] : {};
  if (!stream && (body['stream_options'] ?? null) !== null) {
    throw new ApiError(400, 'Stream options can only be defined when `stream=True`.', 'stream_options');
  }
  return {
    body,
    model: string(body, 'model'),
    stream,
    n: integer(body, 'n', 1, 128) ?? 1,
    maxTokens,
    minTokens: integer(body, 'min_tokens', 0) ?? 0,
    ignoreEos: boolean(body, 'ignore_eos'),
    priority: integer(body, 'priority', Number.MIN_SAFE_INTEGER) ?? 0,
    cacheSalt: string(body, 'cache_salt') ?? '',
    includeUsage: boolean(streamOptions, 'include_usage'),
    continuousUsage: boolean(streamOptions, 'include_usage') && boolean(streamOptions, 'continuous_usage_stats'),
    returnTokenIds: boolean(body, 'return_token_ids'),
    scripted: body['sim'] === undefined ? undefined : scriptedAnswer(body['sim'], 'sim'),
  };
}

/** Why the answer ended, once the last of its tokens has been read out; null before. */
export function finishOf({ answer, narrator, sequence }: Choice): Answer['finish'] | null {
  return sequence.state === 'finished' && narrator.told === sequence.generated ? answer.finish : null;
}

/** One server-sent event. */
export function sse(data: object, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** `{key: value}`, or nothing when there is no value. */
export function optional(key: string, value: unknown): JsonObject {
  return value === undefined ? {} : { [key]: value };
}
