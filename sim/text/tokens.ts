/**
 * The stand-in tokenizer: four UTF-8 bytes a token, the average of English and code on real ones. A token's id is its
 * bytes, so that ids turn back into text; a text's last token may hold fewer. Texts are encoded one by one (each
 * message, each tool call), so appending to a conversation never changes the tokens before it.
 *
 *   0 .. 2^32-1            four bytes, big-endian
 *   2^32 ..                one byte, then two, then three
 *   SPECIAL ..             marks of the chat template
 */
export const BYTES_PER_TOKEN = 4;

const ONE_BYTE = 2 ** 32;
const TWO_BYTES = ONE_BYTE + 2 ** 8;
const THREE_BYTES = TWO_BYTES + 2 ** 16;
const SPECIAL = THREE_BYTES + 2 ** 24;

export const MARKS = {
  system: SPECIAL,
  user: SPECIAL + 1,
  assistant: SPECIAL + 2,
  tool: SPECIAL + 3,
  tools: SPECIAL + 4,
  call: SPECIAL + 5,
  arguments: SPECIAL + 6,
  image: SPECIAL + 7,
  padding: SPECIAL + 8,
  end: SPECIAL + 9,
} as const;

export function encode(text: string, ids: number[]): void {
  const bytes = Buffer.from(text, 'utf8');
  const whole = bytes.length - (bytes.length % BYTES_PER_TOKEN);
  for (let at = 0; at < whole; at += BYTES_PER_TOKEN) ids.push(bytes.readUInt32BE(at));
  const rest = bytes.length - whole;
  if (rest === 1) ids.push(ONE_BYTE + bytes.readUInt8(whole));
  else if (rest === 2) ids.push(TWO_BYTES + bytes.readUInt16BE(whole));
  else if (rest === 3) ids.push(THREE_BYTES + bytes.readUIntBE(whole, 3));
}

export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

/** One round of a 32-bit multiply-xor hash. */
export function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

/** 32-bit hash of a text, never negative. */
export function hashText(text: string, seed = 0): number {
  let hash = mix(seed, text.length);
  for (let at = 0; at < text.length; at += 1) hash = mix(hash, text.charCodeAt(at));
  return mix(hash, 0x85ebca6b) >>> 0;
}

/**
 * Hash of every full block of `ids`, each covering all that precedes it. 53 bits, so that a million blocks do not
 * collide. `salt` separates prompts that must not share a cache.
 */
export function blockHashes(ids: readonly number[], blockSize: number, salt: string): Float64Array {
  const hashes = new Float64Array(Math.floor(ids.length / blockSize));
  let high = hashText(salt, 0x2545f491);
  let low = hashText(salt, 0x6b8b4567);
  let at = 0;
  for (let block = 0; block < hashes.length; block += 1) {
    for (const end = at + blockSize; at < end; at += 1) {
      const id = ids[at] ?? 0;
      const upper = (id / ONE_BYTE) | 0;
      high = mix(high, (id | 0) + upper);
      low = mix(low + 0x61c88647, (id | 0) ^ (upper << 7));
    }
    hashes[block] = (high & 0x1fffff) * ONE_BYTE + (low >>> 0);
  }
  return hashes;
}
