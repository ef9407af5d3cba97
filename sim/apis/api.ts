import type { Sequence } from '../engine/sequence.js';
import type { Answer, Delta, Narrator, Question, ToolChoice } from '../text/answer.js';
import { renderPrompt, type Message, type Tool } from '../text/conversation.js';
import { ApiError, boolean, checkSampling, integer, isObject, string, type JsonObject } from './fields.js';

export interface Prompt extends Pick<Question, 'messages' | 'tools' | 'toolChoice' | 'schema'> {
  readonly ids: readonly number[];
  /** Whether its tokens are to be embedded. */
  readonly isEmbedded?: boolean;
}

/** @param toolList the tools as the request has them */
export const promptOf = (
  messages: readonly Message[],
  toolList: readonly unknown[],
  tools: readonly Tool[],
  toolChoice: ToolChoice,
  schema?: unknown,
): Prompt => ({ ids: renderPrompt(messages, toolList), messages, tools, toolChoice, ...optional('schema', schema) });

/** The request's parameters, apart from the prompts. */
export type Terms = Readonly<ReturnType<typeof readTerms>>;

export interface Ask {
  readonly terms: Terms;
  readonly prompts: readonly Prompt[];
}

export interface Choice {
  readonly index: number;
  readonly answer: Answer;
  readonly narrator: Narrator;
  readonly promptTokens: number;
  /** Kept only for embeddings. */
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

export interface Reply {
  /** Hexadecimal and unique; each API adds its own prefix. */
  readonly id: string;
  /** Unix time in whole seconds. */
  readonly createdAt: number;
  readonly model: string;
  readonly terms: Terms;
  readonly choices: readonly Choice[];
  /** Absent when a fault hides it. */
  usage(): Usage | undefined;
  /** Engine-side times in milliseconds, as under `--enable-per-request-metrics`; absent for several answers. */
  metrics(): JsonObject | undefined;
  readonly status: 'in_progress' | 'completed' | 'cancelled';
}

/** Writes one call's answer in the form of one API. Events are whole SSE events, framed; absent: none. */
export interface Formatter {
  opening?(): string[];
  delta(choice: Choice, deltas: readonly Delta[]): string[];
  finish?(choice: Choice): string[];
  closing(): string[];
  whole(): JsonObject;
}

export type History = (responseId: string) => readonly Message[] | undefined;

/** Answers the question "what does this API call a prompt, and an answer?". One file an API. */
export interface Api {
  /** @throws ApiError 400 with the field to blame. */
  read(body: JsonObject, history: History): Ask;
  format(reply: Reply): Formatter;
}

export function readTerms(body: JsonObject, maxTokens: number | undefined) {
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
    cacheSalt: string(body, 'cache_salt') ?? '',
    includeUsage: boolean(streamOptions, 'include_usage'),
    /** Usage so far on each chunk; takes effect only with usage at the end. */
    continuousUsage: boolean(streamOptions, 'include_usage') && boolean(streamOptions, 'continuous_usage_stats'),
  };
}

/** Why the answer ended; null before its last token has been read out. */
export const finishOf = ({ answer, narrator, sequence }: Choice): Answer['finish'] | null =>
  sequence.state === 'finished' && narrator.told === sequence.generated ? answer.finish : null;

export const sse = (data: object, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

/** `{key: value}`, or nothing when there is no value. */
export const optional = (key: string, value: unknown): JsonObject => (value === undefined ? {} : { [key]: value });
