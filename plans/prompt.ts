import type { BatchLine } from './lines.js';
import { insertsAny, isReference } from './references.js';

/** Characters of a block: about the 64 tokens of a few blocks in an engine's cache. */
const BLOCK_CHARS = 256;
/** Longest beginning that is compared; prompts that agree so far are neighbours in any case. */
const CHARS_MAX = 65_536;
const CHARS_PER_TOKEN = 4;
export const BLOCK_TOKENS = BLOCK_CHARS / CHARS_PER_TOKEN;

/** In the order of the prompts that engines make of them. */
const PROMPT_FIELDS = ['model', 'tools', 'system', 'instructions', 'messages', 'prompt', 'input'];

/** Text of a prompt, up to the first reference to an answer that is not there yet. */
class Beginning {
  text = '';
  /** Characters of the whole prompt, so far as they are known. */
  chars = 0;
  #isOpen = true;

  constructor(private readonly after: ReadonlySet<string>) {}

  add(value: unknown): void {
    if (typeof value === 'string') this.#addText(value);
    else if (typeof value !== 'object' || value === null) this.#addText(String(value));
    else if (!Array.isArray(value) && isReference(value)) this.#isOpen = false;
    else
      for (const [key, each] of Object.entries(value)) {
        if (!Array.isArray(value)) this.#addText(`\u0000${key}\u0000`);
        this.add(each);
      }
  }

  #addText(text: string): void {
    this.chars += text.length;
    if (!this.#isOpen || this.text.length >= CHARS_MAX) return;
    if (!insertsAny(text, this.after)) this.text += text;
    else {
      this.#isOpen = false;
      const at = Math.min(...[...this.after].map((id) => text.indexOf(`\${${id}}`) >>> 0));
      this.text += text.slice(0, at);
    }
  }
}

/**
 * The blocks of a prompt's known beginning, each as a hash of all text up to its end: equal blocks have equal
 * beginnings. The last, partial block is left out.
 */
export function promptOf({ url, body, after }: BatchLine): { readonly blocks: Float64Array; readonly tokens: number } {
  const beginning = new Beginning(after);
  beginning.add(url);
  for (const field of PROMPT_FIELDS) {
    if (body[field] === undefined) continue;
    beginning.add(`\u0001${field}\u0001`);
    beginning.add(body[field]);
  }
  const { text, chars } = beginning;
  return { blocks: hashesOf(text.slice(0, CHARS_MAX), BLOCK_CHARS), tokens: Math.ceil(chars / CHARS_PER_TOKEN) };
}

/** For each whole block of characters, a hash of all text up to its end. */
export function hashesOf(text: string, blockChars: number): Float64Array {
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
