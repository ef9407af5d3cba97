import type { Answer, Ask, JsonObject, Message, ToolCall } from './api.js';

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
/** Above it nothing counts tokens: what a target tells must not spoil sums. */
const COUNT_MAX = 1e9;
/** NaN for what is no count. */
export const countOf = (value: unknown): number =>
  typeof value === 'number' && value >= 0 && value <= COUNT_MAX ? value : NaN;

/** A text in quotes. What is known to be plain is not looked through, and stays a slice of what it was cut from. */
export const quoted = ({ text, isPlain = false }: Pick<Message, 'text' | 'isPlain'>): string =>
  isPlain ? `"${text}"` : JSON.stringify(text);

/** A body of these fields, and one that is JSON text already. */
export function bodyOf(fields: JsonObject, name: string, json: string): string {
  return `${JSON.stringify(fields).slice(0, -1)},"${name}":${json}}`;
}

/** What the engines that we know take, to make an answer exactly so long. */
export const exactly = ({ isExact, outputTokens }: Ask): JsonObject =>
  isExact ? { ignore_eos: true, min_tokens: outputTokens } : {};

export const FUNCTION_PARAMETERS = { type: 'object', properties: {} } as const;

/** Usage as chat and completions tell it. */
export function takeUsage(usage: unknown, answer: Answer): void {
  if (!isObject(usage)) return;
  answer.promptTokens = countOf(usage['prompt_tokens']);
  answer.outputTokens = countOf(usage['completion_tokens']);
  answer.cachedTokens = countOf(objectOf(usage['prompt_tokens_details'])['cached_tokens']);
}

/** Puts a part of a tool call behind what came of it before. */
export function growCall(answer: Answer, at: number, part: Partial<ToolCall>): void {
  const { id = '', name = '', arguments: json = '' } = answer.toolCalls[at] ?? {};
  answer.toolCalls[at] = {
    id: part.id ?? id,
    name: part.name ?? name,
    arguments: json + (part.arguments ?? ''),
  };
}
