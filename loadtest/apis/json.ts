import type { Answer, Ask, JsonObject, Message, Step, ToolCall } from './api.js';

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
export function bodyOf(fields: JsonObject, name: string, json: string): string {
  return `${JSON.stringify(fields).slice(0, -1)},"${name}":${json}}`;
}

/** Fields that make known engines return an answer of exactly this length. */
export const exactly = ({ isExact, outputTokens }: Ask): JsonObject =>
  isExact ? { ignore_eos: true, min_tokens: outputTokens } : {};

export const FUNCTION_PARAMETERS = { type: 'object', properties: {} } as const;

/** Reads usage as chat and completions report it. */
export function takeUsage(usage: unknown, answer: Answer): void {
  if (!isObject(usage)) return;
  answer.promptTokens = countOf(usage['prompt_tokens']);
  answer.outputTokens = countOf(usage['completion_tokens']);
  answer.cachedTokens = countOf(objectOf(usage['prompt_tokens_details'])['cached_tokens']);
}

/** Appends a part of a tool call to its earlier parts. */
export function growCall(answer: Answer, at: number, part: Partial<ToolCall>): void {
  const { id = '', name = '', arguments: json = '' } = answer.toolCalls[at] ?? {};
  answer.toolCalls[at] = {
    id: part.id ?? id,
    name: part.name ?? name,
    arguments: json + (part.arguments ?? ''),
  };
}

/** Fields of a request that chat and completions spell alike. */
export const openaiFields = (ask: Ask): JsonObject => ({
  model: ask.model,
  max_tokens: ask.outputTokens,
  temperature: 0,
  ...exactly(ask),
  ...(ask.stream && { stream: true, stream_options: { include_usage: true } }),
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
