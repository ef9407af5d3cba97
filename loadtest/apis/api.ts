export type JsonObject = Readonly<Record<string, unknown>>;

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text: string;
  /** Whether the text is only words and spaces, which need no escaping in JSON. */
  readonly isPlain?: boolean;
  readonly toolCalls?: readonly ToolCall[];
  /** For a tool's result: the id of its call. */
  readonly toolId?: string;
}

export interface Ask {
  readonly model: string;
  /** The messages of its conversation, each as returned by `item`. */
  readonly items: readonly string[];
  readonly tools: readonly string[];
  readonly outputTokens: number;
  /** Whether a shorter answer is not acceptable either. */
  readonly isExact: boolean;
  readonly stream: boolean;
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
  readonly endsWithMark: boolean;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The JSON object in a text; undefined for anything else. */
export function objectIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
/** Upper bound on token counts: an absurd report must not spoil sums. */
const COUNT_MAX = 1e9;
/** NaN for anything but a count. */
export const countOf = (value: unknown): number =>
  typeof value === 'number' && value >= 0 && value <= COUNT_MAX ? value : NaN;

/** A quoted text. Plain text is not scanned, and stays a slice of its source. */
export const quoted = ({ text, isPlain = false }: Pick<Message, 'text' | 'isPlain'>): string =>
  isPlain ? `"${text}"` : JSON.stringify(text);

/** A JSON body of these fields, and one more that is already JSON text. */
export const bodyOf = (fields: JsonObject, name: string, json: string): string =>
  `${JSON.stringify(fields).slice(0, -1)},"${name}":${json}}`;

export const FUNCTION_PARAMETERS = { type: 'object', properties: {} } as const;

export function takeUsage(usage: unknown, answer: Answer): void {
  if (!isObject(usage)) return;
  answer.promptTokens = countOf(usage['prompt_tokens']);
  answer.outputTokens = countOf(usage['completion_tokens']);
  answer.cachedTokens = countOf(objectOf(usage['prompt_tokens_details'])['cached_tokens']);
}

export function growCall(answer: Answer, at: number, part: Partial<ToolCall>): void {
  const { id = '', name = '', arguments: json = '' } = answer.toolCalls[at] ?? {};
  answer.toolCalls[at] = {
    id: part.id ?? id,
    name: part.name ?? name,
    arguments: json + (part.arguments ?? ''),
  };
}

/** Fields of a request that all APIs spell alike, but for that of its longest answer and its tools. */
export const fieldsOf = (ask: Ask, limit: string, tool: (name: string) => JsonObject): JsonObject => ({
  model: ask.model,
  [limit]: ask.outputTokens,
  temperature: 0,
  // Known engines then return an answer of exactly this length.
  ...(ask.isExact && { ignore_eos: true, min_tokens: ask.outputTokens }),
  ...(ask.stream && { stream: true }),
  ...(ask.tools.length > 0 && { tools: ask.tools.map(tool) }),
  ...ask.fields,
});

/** As `fieldsOf`, of chat and completions. */
export const openaiFields = (ask: Ask, tool: (name: string) => JsonObject): JsonObject => ({
  ...fieldsOf(ask, 'max_tokens', tool),
  ...(ask.stream && { stream_options: { include_usage: true } }),
});

/** An event of chat or completions. @param take reads its choice */
export function openaiEvent(data: JsonObject, answer: Answer, take: (choice: JsonObject) => Step): Step {
  if (data['error'] !== undefined && data['error'] !== null) return 'error';
  if (data['usage'] !== undefined) takeUsage(data['usage'], answer);
  const { choices } = data;
  if (!Array.isArray(choices)) return data['usage'] === undefined ? 'alien' : 'other';
  const [choice] = choices as unknown[];
  return choice === undefined ? 'other' : take(objectOf(choice));
}
