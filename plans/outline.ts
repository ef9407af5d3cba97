import { isReference, replaceInserts } from './answers.js';
import type { BatchLine } from './line.js';

export type Outline = Readonly<ReturnType<typeof outlineOf>>;

/** Characters of a block: about the 64 tokens of a few blocks in an engine's cache. */
const BLOCK_CHARS = 256;
/** Longest beginning that is compared; prompts that agree so far are neighbours in any case. */
const CHARS_MAX = 65_536;
const CHARS_PER_TOKEN = 4;
export const BLOCK_TOKENS = BLOCK_CHARS / CHARS_PER_TOKEN;
/** Assumed length of an answer without a limit. */
const OUTPUT_TOKENS = 256;

/** In the order of the prompts that engines make of them. */
const PROMPT_FIELDS = ['model', 'tools', 'system', 'instructions', 'messages', 'prompt', 'input'];
/** Stands for an answer that is not there yet. */
const MARK = '\u0000';
const MARK_JSON = '\\u0000';

/** Values as JSON, with other lines named by their places in the line's needs. */
function written(values: unknown, { after, needs }: BatchLine): string {
  // Nothing to replace, so no function is called for each value.
  if (needs.length === 0) return JSON.stringify(values);
  const places = new Map(needs.map((id, place) => [id, place]));
  const placeOf = (id: string): number => places.get(id) ?? -1;
  return JSON.stringify(values, (_, value: unknown) =>
    typeof value === 'string'
      ? replaceInserts(value, after, (id) => `${MARK}${placeOf(id)}${MARK}`)
      : typeof value === 'object' && value !== null && isReference(value)
        ? [MARK, placeOf(value.$ref), value.path]
        : value,
  );
}

/**
 * The request of a line, so that lines with equal needs and equal texts ask the same. Undefined: its answer may differ,
 * or need not be. Embeddings, and answers at temperature 0 or with a seed, are the same; tools may have effects.
 */
export function requestOf(line: BatchLine): string | undefined {
  const { url, body, each, condition } = line;
  const isSteady =
    (body['temperature'] === 0 || typeof body['seed'] === 'number') && (body['tools'] ?? undefined) === undefined;
  if (each !== undefined || condition !== undefined || !(isSteady || url.endsWith('/embeddings'))) return undefined;
  return written([url, body], line);
}

/** The parts of a line that its place in the plan depends on. Tokens are those of one call, by estimate. */
export function outlineOf(line: BatchLine, number: number) {
  const { body, customId, needs, each } = line;
  const prompt = written([line.url, ...PROMPT_FIELDS.map((field) => body[field] ?? 0)], line);
  const end = prompt.indexOf(MARK_JSON);
  const limits = [body['max_completion_tokens'], body['max_output_tokens'], body['max_tokens']];
  const limit = limits.find((given) => typeof given === 'number' && given >= 0 && Number.isFinite(given));
  const asked = requestOf(line);
  return {
    customId,
    line: number,
    needs,
    /** Hash of what the line asks; undefined: its answer stands for no other line. */
    request: asked === undefined ? undefined : hashesOf(asked, asked.length)[0],
    /** For each block of the prompt's known beginning, a hash of all text up to its end. */
    blocks: hashesOf(prompt.slice(0, Math.min(CHARS_MAX, end < 0 ? prompt.length : end)), BLOCK_CHARS),
    promptTokens: Math.ceil(prompt.length / CHARS_PER_TOKEN),
    outputTokens: line.url.endsWith('/embeddings') ? 0 : ((limit as number | undefined) ?? OUTPUT_TOKENS),
    /** Most calls that the line becomes. */
    callsMax: each?.max ?? 1,
  };
}

/** For each whole block of characters, a hash of all text up to its end. */
function hashesOf(text: string, blockChars: number): Float64Array {
  const hashes = new Float64Array(Math.floor(text.length / blockChars));
  let [low, high] = [0x811c9dc5, 0x9e3779b9];
  for (let block = 0; block < hashes.length; block++) {
    for (let i = block * blockChars; i < (block + 1) * blockChars; i++) {
      const code = text.charCodeAt(i);
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ code, 0x5bd1e995) ^ (high >>> 15);
    }
    hashes[block] = (high & 0x1fffff) * 0x1_0000_0000 + (low >>> 0);
  }
  return hashes;
}
