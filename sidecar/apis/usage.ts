import { tokens, type Usage } from '../../src/index.js';
import { objectOf } from './fields.js';

/** Largest count that is believed: one wrong answer must not fill a counter for ever. */
const TOKENS_MAX = 1e9;

export const countOf = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= TOKENS_MAX ? (value as number) : undefined;

/** Absent without a prompt count: half a report would be charged as a free prompt. */
export function usageOf(prompt: unknown, output: unknown, cached: unknown): Usage | undefined {
  const promptTokens = countOf(prompt);
  if (promptTokens === undefined || (output !== undefined && output !== null && countOf(output) === undefined))
    return undefined;
  const cachedTokens = countOf(cached);
  return {
    promptTokens: tokens(promptTokens),
    outputTokens: tokens(countOf(output) ?? 0),
    ...(cachedTokens !== undefined && cachedTokens <= promptTokens && { cachedTokens: tokens(cachedTokens) }),
  };
}

export function openaiUsage(usage: unknown): Usage | undefined {
  const { prompt_tokens, completion_tokens, prompt_tokens_details } = objectOf(usage);
  return usageOf(prompt_tokens, completion_tokens, objectOf(prompt_tokens_details)['cached_tokens']);
}

/** Characters of the longest answer that is remembered. */
const CHARS_MAX = 4_194_304;

/** Bounds the parts of a streamed answer that are kept: none if they are not wanted, none further once they are too long. */
export class Kept {
  #chars = 0;

  constructor(public wanted: boolean) {}

  keep(pieces: string[], piece: string): void {
    if (!this.wanted || piece === '') return;
    this.#chars += piece.length;
    if (this.#chars > CHARS_MAX) this.wanted = false;
    else pieces.push(piece);
  }
}
