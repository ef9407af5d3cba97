import { readMsgpack } from './msgpack.js';

/** A block of the KV cache, by the hash of its tokens and all before them. */
export type BlockHash = number;

/** A change of the engine's own cache. Events of other tiers are left out. */
export type KvEvent =
  | { readonly type: 'stored'; readonly blocks: readonly BlockHash[]; readonly blockTokens: number }
  | { readonly type: 'removed'; readonly blocks: readonly BlockHash[] }
  | { readonly type: 'cleared' };

/** The events of one step of one data-parallel rank. */
export interface Batch {
  readonly seq: number;
  readonly rank: number;
  readonly events: readonly KvEvent[];
}

const SEQ_BYTES = 8;
const RANK_MAX = 1023;
const BLOCK_TOKENS_MAX = 1e6;
/** Fields of the three events by place, for versions that send arrays: SGLang, and older ones of vLLM. */
const STORED = 'block_hashes parent_block_hash token_ids block_size lora_id medium lora_name extra_keys group_idx';
const PLACES = new Map<unknown, readonly string[]>([
  ['BlockStored', STORED.split(' ')],
  ['BlockRemoved', ['block_hashes', 'medium', 'group_idx']],
]);

/**
 * Reads a message: topic, number of the batch, and its events. Never throws.
 * Source: vllm/distributed/kv_events.py and sglang/srt/disaggregation/kv_events.py
 * @returns undefined for anything else
 */
export function readBatch(frames: readonly Buffer[]): Batch | undefined {
  const [, seq, payload] = frames;
  if (frames.length !== 3 || seq?.length !== SEQ_BYTES || payload === undefined) return undefined;
  const batch = readMsgpack(payload);
  if (!Array.isArray(batch) || !Array.isArray(batch[1])) return undefined;
  const events: KvEvent[] = [];
  for (const item of batch[1] as readonly unknown[]) {
    const event = readEvent(item);
    if (event === 'malformed') return undefined;
    if (event !== 'elsewhere') events.push(event);
  }
  const rank = wholeUpTo(batch[2] ?? 0, RANK_MAX);
  return rank === undefined ? undefined : { seq: Number(seq.readBigUInt64BE()), rank, events };
}

function readEvent(item: unknown): KvEvent | 'elsewhere' | 'malformed' {
  const fields = fieldsOf(item);
  const type = fields?.get('type');
  if (fields === undefined) return 'malformed';
  if (type === 'AllBlocksCleared') return { type: 'cleared' };
  // Fields of later versions do not concern the engine's own cache.
  if (type !== 'BlockStored' && type !== 'BlockRemoved') return 'elsewhere';
  // Of a model with several kinds of attention, the first group stands for all: each holds the same tokens.
  if ((fields.get('medium') ?? 'GPU') !== 'GPU' || (fields.get('group_idx') ?? 0) !== 0) return 'elsewhere';
  const blocks = readHashes(fields.get('block_hashes'));
  if (blocks === undefined) return 'malformed';
  if (type === 'BlockRemoved') return { type: 'removed', blocks };
  const blockTokens = wholeUpTo(fields.get('block_size'), BLOCK_TOKENS_MAX);
  return blockTokens === undefined ? 'malformed' : { type: 'stored', blocks, blockTokens };
}

/** The fields of an event by name, with its `type`. */
function fieldsOf(item: unknown): ReadonlyMap<unknown, unknown> | undefined {
  if (item instanceof Map) return item;
  if (!Array.isArray(item)) return undefined;
  const [type, ...values] = item as readonly unknown[];
  const places = PLACES.get(type) ?? [];
  return new Map<unknown, unknown>([['type', type], ...places.map((name, place) => [name, values[place]] as const)]);
}

function readHashes(list: unknown): BlockHash[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const hashes: BlockHash[] = [];
  for (const hash of list as readonly unknown[]) {
    if (typeof hash === 'number') hashes.push(hash);
    // A hash of 32 bytes: six are enough to distinguish blocks.
    else if (Buffer.isBuffer(hash) && hash.length >= 6) hashes.push(hash.readUIntBE(0, 6));
    else return undefined;
  }
  return hashes;
}

function wholeUpTo(value: unknown, max: number): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max ? value : undefined;
}
