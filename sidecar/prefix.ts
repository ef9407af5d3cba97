import type { Turn } from './apis/api.js';

/** Characters per block, close to the 256 tokens of routers' prefix trees. */
const BLOCK_CHARS = 1024;
/** Most blocks to hash. Nothing else distinguishes prompts that differ only after the first 256 Ki characters. */
const BLOCKS_MAX = 256;

/**
 * Hashes of a conversation's leading blocks, each covering everything before it (32-bit FNV-1a). Equal numbers mean
 * equal beginnings. An incomplete block is omitted, as in engines' caches.
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
