import type { Turn } from './apis/api.js';

/** Characters in a block, near the 256 tokens at which prefix trees of routers are cut. */
const BLOCK_CHARS = 1024;
/** Blocks hashed: prompts that differ only behind the first 256 Ki characters are told apart by nothing else either. */
const BLOCKS_MAX = 256;

/**
 * Hashes of a conversation's leading blocks, each over all before it (32-bit FNV-1a): equal numbers, equal beginnings.
 * A block that is not full is left out, as engines leave it out of their caches.
 */
export function prefixHashes(conversation: readonly Turn[]): number[] {
  const hashes: number[] = [];
  let hash = 0x811c9dc5;
  let inBlock = 0;
  for (const turn of conversation) {
    const { role, content } = turn.read();
    const text = `${role}\0${content}\0`;
    for (let i = 0; i < text.length; i++) {
      hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
      if (++inBlock < BLOCK_CHARS) continue;
      inBlock = 0;
      hashes.push(hash);
      if (hashes.length === BLOCKS_MAX) return hashes;
    }
  }
  return hashes;
}
