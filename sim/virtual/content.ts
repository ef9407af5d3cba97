import { LRUCache } from 'lru-cache';
import type { BlockHashes } from '../engine/blocks.js';
import { tokens, type Family } from '../../src/index.js';
import type { AgentProgram, Prefix } from '../../workloads/index.js';
import { blockHashes } from '../text/tokens.js';

/**
 * Numbers of blocks, as spans that count up by one, filled from the last span to the first.
 *
 *     block      0 .......... starts[1] ......... starts[0] ........ length
 *     number     bases[2] + block | bases[1] + block | bases[0] + block
 */
export class Spans implements BlockHashes {
  readonly #starts: number[] = [];
  readonly #bases: number[] = [];
  #spans = 0;
  length = 0;
  /** Number of leading blocks that no span covers yet. */
  missing = 0;

  /** Empties it, for this many blocks. */
  reset(length: number): this {
    this.#spans = 0;
    this.length = length;
    this.missing = length;
    return this;
  }

  /** Covers the missing blocks from block `first` on; each gets the number `base` plus its index. */
  prepend(first: number, base: number): void {
    if (first >= this.missing) return;
    this.#starts[this.#spans] = first;
    this.#bases[this.#spans] = base;
    this.#spans += 1;
    this.missing = first;
  }

  at(block: number): number {
    return (this.#bases[this.#spanOf(block)] ?? NaN) + block;
  }

  consecutive(block: number): number {
    const span = this.#spanOf(block);
    return (span === 0 ? this.length : (this.#starts[span - 1] ?? NaN)) - block;
  }

  /** Index of the span that holds the block: the first in this order that starts at or before it. */
  #spanOf(block: number): number {
    let low = 0;
    let high = this.#spans - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? NaN) <= block) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/**
 * Names of shared texts remembered. A forgotten name becomes a new text, long after engines have evicted the old one.
 */
const NAMES_MAX = 65_536;
/**
 * Tokens in each block of a prompt's beginning that a balancer may compare, and most such blocks: as in the prefix trees
 * of routers.
 */
const PREFIX_TOKENS = 256;
const PREFIX_BLOCKS_MAX = 256;

/**
 * Contents of prompts and answers, as an engine's prefix cache sees them. Each full KV block has one number, equal for
 * equal text after equal text.
 *
 *     call 0     [ system: name "s" ][ own ............ answer ]
 *     call 1     [ kept of call 0 ..................... ][ own ... answer ]
 *                  blocks:   0   1   2   3   4   5   6     7  8  9
 *
 * A token of a text implies all tokens before it. So the text of a block's last token, and the block's place, identify
 * the block. Nothing is hashed: every text has a range of numbers.
 */
export class Texts {
  #given = 0;
  readonly #named = new LRUCache<string, number>({ maxSize: NAMES_MAX, sizeCalculation: () => 1 });

  readonly #spare: Spans[] = [];

  /** @param blocksMax blocks of the longest conversation that an engine takes */
  constructor(
    readonly blockSize: number,
    readonly blocksMax: number,
  ) {}

  /** A list for this many blocks; its taker must give it back. */
  spans(blocks: number): Spans {
    return (this.#spare.pop() ?? new Spans()).reset(blocks);
  }

  giveBack(spans: Spans): void {
    this.#spare.push(spans);
  }

  /** The first of this many numbers that no other text has. */
  range(blocks: number): number {
    const first = this.#given;
    this.#given += blocks;
    return first;
  }

  named(name: string): number {
    let first = this.#named.get(name);
    if (first === undefined) this.#named.set(name, (first = this.range(this.blocksMax)));
    return first;
  }
}

/**
 * The start of each call's own text in its conversation, for one program. The first call that continues another's
 * conversation has no range of its own: it continues the other's range.
 */
export class Layout {
  /** First block of each call that ends in its own text, or in the text of the calls whose range it continues. */
  readonly #firstOwn: Int32Array;
  /** The number of that block minus its index. */
  readonly #base: Float64Array;
  /** The call whose prefix determines the earlier blocks: this one, or the first of its range. */
  readonly #opening: Int32Array;

  constructor(
    private readonly program: AgentProgram,
    readonly texts: Texts,
  ) {
    const { calls } = program;
    const { blockSize } = texts;
    this.#firstOwn = new Int32Array(calls.length);
    this.#base = new Float64Array(calls.length);
    this.#opening = new Int32Array(calls.length);
    // Full blocks of each call, -1 when another call continues it; and the end of each range.
    const full = new Int32Array(calls.length);
    const end = new Int32Array(calls.length);
    calls.forEach(({ prefix, promptTokens, outputTokens }, index) => {
      const first = Math.floor(Math.min(promptTokens, keptTokens(prefix)) / blockSize);
      const before = prefix !== undefined && 'call' in prefix ? prefix.call : index;
      const goesOn = before !== index && first === full[before];
      if (goesOn) full[before] = -1;
      const opening = goesOn ? (this.#opening[before] ?? 0) : index;
      this.#opening[index] = opening;
      this.#firstOwn[index] = goesOn ? (this.#firstOwn[before] ?? 0) : first;
      // An engine generates at least one token.
      const blocks = (promptTokens + Math.max(1, outputTokens)) / blockSize;
      full[index] = Math.floor(blocks);
      end[opening] = Math.max(end[opening] ?? 0, Math.ceil(blocks));
    });
    for (let index = 0; index < calls.length; index += 1) {
      const opening = this.#opening[index] ?? 0;
      const first = this.#firstOwn[index] ?? 0;
      this.#base[index] =
        opening === index ? texts.range((end[index] ?? 0) - first) - first : (this.#base[opening] ?? 0);
    }
  }

  /**
   * Numbers of the full blocks of the call's prompt and answer, which have `tokens` tokens together. The caller gives
   * them back.
   */
  blocks(call: number, tokens: number): Spans {
    const blocks = this.texts.spans(Math.floor(tokens / this.texts.blockSize));
    let from: number | undefined = call;
    while (from !== undefined && blocks.missing > 0) {
      blocks.prepend(this.#firstOwn[from] ?? 0, this.#base[from] ?? 0);
      from = this.#prependShared(blocks, this.program.calls[this.#opening[from] ?? 0]?.prefix);
    }
    return blocks;
  }

  /**
   * The hashes of the prompt's leading blocks that a gateway would pass to a balancer. The raw numbers would reveal how
   * many blocks lie between two texts, and so the length of answers to come.
   */
  prefix(call: number, promptTokens: number): number[] {
    const { blockSize } = this.texts;
    const blocks = this.blocks(call, promptTokens);
    const full = Math.floor(promptTokens / blockSize);
    const stride = Math.max(1, Math.round(PREFIX_TOKENS / blockSize));
    const numbers: number[] = [];
    for (let block = stride - 1; block < full && numbers.length < PREFIX_BLOCKS_MAX; block += stride)
      numbers.push(blocks.at(block));
    this.texts.giveBack(blocks);
    return [...blockHashes(numbers, 1, '')];
  }

  /** The family that a gateway would find for the call's thread: its leading text, if that is a named one. */
  family(thread: string): Family | undefined {
    const { calls } = this.program;
    let prefix = calls.find((call) => call.thread === thread)?.prefix;
    while (prefix !== undefined && 'call' in prefix) prefix = calls[prefix.call]?.prefix;
    if (prefix === undefined || 'blocks' in prefix) return undefined;
    return { id: this.texts.named(prefix.name), tokens: tokens(prefix.tokens) };
  }

  /** Fills in missing shared blocks. If they belong to another call, returns that call instead. */
  #prependShared(blocks: Spans, prefix: Prefix | undefined): number | undefined {
    if (prefix === undefined || blocks.missing === 0) return undefined;
    if ('call' in prefix) return prefix.call;
    if ('name' in prefix) {
      blocks.prepend(0, this.texts.named(prefix.name));
      return undefined;
    }
    const { blockSize, blocksMax } = this.texts;
    while (blocks.missing > 0) {
      const at = Math.floor((blocks.missing * blockSize - 1) / prefix.blockTokens);
      const first = Math.ceil((at * prefix.blockTokens + 1) / blockSize) - 1;
      // Below zero, to differ from all texts' numbers.
      blocks.prepend(first, -(1 + (prefix.blocks[at] ?? 0)) * blocksMax);
    }
    return undefined;
  }
}

/**
 * Tokens that the prompt shares by this prefix. Whole blocks may exceed the prompt, as the last one may be partly used.
 */
function keptTokens(prefix: Prefix | undefined): number {
  if (prefix === undefined) return 0;
  return 'blocks' in prefix ? prefix.blocks.length * prefix.blockTokens : prefix.tokens;
}
