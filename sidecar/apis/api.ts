import type { Usage } from '../../src/index.js';
import type { GatewayError } from '../errors.js';

export type ApiKind = 'chat' | 'completions' | 'responses' | 'messages' | 'count_tokens' | 'embeddings';
export type JsonObject = Readonly<Record<string, unknown>>;

/** One message of a conversation, reduced to what survives a client's round trip (see `identity/history.ts`). */
export interface CanonicalMessage {
  readonly role: string;
  /** Text and tool calls in one canonical string: what a client re-sends of our answer must give the same string. */
  readonly content: string;
  /** Ids of its tool calls, which tell answers apart that say the same; absent without. Some clients make ids of their own. */
  readonly callIds?: string;
}

/** One message of a conversation, not yet read. */
export interface Turn {
  readonly role: string;
  /** Walks the message. */
  read(): CanonicalMessage;
}

/** What the gateway needs to know of a request body. */
export interface RequestFacts {
  readonly model: string;
  readonly stream: boolean;
  /** UTF-8 bytes of the prompt as the token estimate counts them: see `size.ts`. */
  readonly promptBytes: number;
  readonly maxTokens?: number;
  /** Answers the client asked for in one (`n`, times the number of prompts). */
  readonly choices: number;
  /** True when the client asked for the usage chunk itself (`stream_options.include_usage`). */
  readonly wantsUsage: boolean;
  /** The conversation so far; empty where the body does not hold all of it. */
  conversation(): readonly Turn[];
  readonly previousResponseId?: string;
}

/** What the gateway learns from an answer. */
export interface AnswerFacts {
  readonly usage?: Usage;
  /** Id of a served response, for `previous_response_id` and GET/cancel/delete. */
  readonly responseId?: string;
  /** The answer as it would stand in the next request's history; absent if it was not read. */
  readonly message?: CanonicalMessage;
  /** Names of the tools it calls. */
  readonly tools: readonly string[];
  /** The parsed object that carried the usage, for the engine adapter's timings. */
  readonly usageObject?: JsonObject;
}

/** One server-sent event, as the parser gives it. */
export interface SseEvent {
  readonly event?: string | undefined;
  readonly data: string;
}

/** Follows one streamed answer. It must not throw on garbage: unreadable events teach nothing. */
export interface StreamReader {
  /** `hide`: the client did not ask for this event (the usage chunk we asked for) and must not see it. */
  push(event: SseEvent): 'forward' | 'hide';
  /** Whether the stream has said how it ends (`[DONE]`, `message_stop`, `response.completed`...), be it with a failure. */
  readonly complete: boolean;
  /** Whether the engine itself reported, inside the stream, that the answer failed. */
  readonly failed: boolean;
  /** The client's next event must carry this `sequence_number`; absent in APIs that do not number their events. */
  readonly nextSequence?: number;
  facts(): AnswerFacts;
}

/**
 * Answers the question "what does this API call a model, a prompt, an answer, an error?".
 * One file an API; pure; nothing outside the folder knows a field name of an API's bodies.
 */
export interface Api {
  readonly kind: ApiKind;
  /** @throws GatewayError `invalid_body` with the field to blame. */
  readRequest(body: JsonObject): RequestFacts;
  /** Fields to set, those of an object in the one that is there, so that a streamed answer ends with usage; `{}` where it does anyway. */
  usageFields(body: JsonObject): JsonObject;
  readAnswer(answer: JsonObject): AnswerFacts;
  /** @param wantsMessage read the whole answer back, for history matching; else only what is cheap. */
  readStream(facts: RequestFacts, wantsMessage: boolean): StreamReader;
  /** The error object of a failed request, in this API's shape. */
  errorBody(error: GatewayError): JsonObject;
  /**
   * The bytes that end a stream which failed after it began.
   * @param reader what followed the stream so far; absent when the client has seen no event.
   */
  errorEvent(error: GatewayError, reader?: StreamReader): string;
}
