import type { Usage } from '../../src/index.js';
import type { GatewayError } from '../errors.js';

export type ApiKind = 'chat' | 'completions' | 'responses' | 'messages' | 'count_tokens' | 'embeddings';
export type JsonObject = Readonly<Record<string, unknown>>;

/** One message of a conversation, reduced to the parts that survive a client's round trip. */
export interface CanonicalMessage {
  readonly role: string;
  /** Text and tool calls in one canonical string. It is equal for our answer and for the client's copy of it. */
  readonly content: string;
  /** Ids of its tool calls, which distinguish answers of the same content. Some clients make their own. */
  readonly callIds?: string;
}

/** One message of a conversation, read on demand. */
export interface Turn {
  readonly role: string;
  read(): CanonicalMessage;
}

export interface RequestFacts {
  readonly model: string;
  readonly stream: boolean;
  /** For the token estimate; see `prompt.ts`. */
  readonly promptBytes: number;
  readonly maxTokens?: number | undefined;
  /** Number of answers requested, if not one: `n` times the number of prompts. */
  readonly choices?: number;
  /** Whether the client itself asked for the usage chunk (`stream_options.include_usage`), in the APIs that have it. */
  readonly wantsUsage?: boolean;
  /** The conversation so far; empty if the body does not hold all of it. */
  conversation(): readonly Turn[];
  readonly previousResponseId?: string | undefined;
}

/** Choices of one answer that are remembered besides the first. */
export const FURTHER_MAX = 15;

export interface AnswerFacts {
  readonly usage?: Usage | undefined;
  /** Id of a served response, for `previous_response_id` and GET/cancel/delete. */
  readonly responseId?: string | undefined;
  /** As it will appear in the next request's history; absent if it was not read. */
  readonly message?: CanonicalMessage | undefined;
  /** The further choices of an answer of several, at most `FURTHER_MAX`: the client may continue any. */
  readonly further?: readonly CanonicalMessage[];
  /** The parsed object that carried the usage, for the engine adapter's timings. */
  readonly usageObject?: JsonObject | undefined;
}

export interface SseEvent {
  readonly event?: string | undefined;
  readonly data: string;
}

/** Follows one streamed answer. It must not throw: it ignores unreadable events. */
export interface StreamReader {
  /** `hide`: the client must not see this event: an error in the engine's form, or the usage chunk that we alone requested. */
  push(event: SseEvent): 'forward' | 'hide';
  /** Whether the stream has announced its end (`[DONE]`, `message_stop`, `response.completed`...). */
  readonly complete: boolean;
  /** Whether the engine reported a failure before that. */
  readonly failed: boolean;
  /** `sequence_number` that the client's next event must carry; absent in APIs that do not number their events. */
  readonly nextSequence?: number;
  facts(): AnswerFacts;
}

/** An API: its names of a model, a prompt, an answer, an error. Pure; only this folder knows its bodies' fields. */
export interface Api {
  readonly kind: ApiKind;
  /** Field with the list of the conversation's items; absent: such bodies do not grow from call to call. */
  readonly list?: string | undefined;
  /** @throws GatewayError `invalid_body` with the invalid field */
  readRequest(body: JsonObject): RequestFacts;
  /** Fields to set or merge so that a streamed answer ends with usage; absent: it always does. */
  usageFields?(body: JsonObject): JsonObject;
  readAnswer(answer: JsonObject): AnswerFacts;
  /** @param wantsMessage whether to read the whole answer, for history matching; otherwise only the cheap parts */
  readStream(facts: RequestFacts, wantsMessage: boolean): StreamReader;
  /** Whether an engine's body is an error that this API's clients can read. */
  isError(body: JsonObject): boolean;
  errorBody(error: GatewayError, requestId?: string): JsonObject;
  /** Where its clients look for the id of a request, besides `x-request-id`. */
  readonly idHeader?: string;
  /** Ends a stream after a failure. @param reader absent if the client has seen no event */
  errorEvent(error: GatewayError, requestId: string, reader?: StreamReader): string;
}
