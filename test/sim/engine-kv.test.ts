import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HashList, type BlockHashes } from '../../sim/engine/blocks.js';
import { KvCache, KvHold } from '../../sim/engine/kv-cache.js';
import { Spans } from '../../sim/virtual/content.js';

const SIZE = 24;
const HOLDS = 4;
const LENGTH_MAX = 12;

/** The obvious cache: one object a block, one list of free blocks, every look-up a search. */
class BlockCache {
  readonly blocks: { hash?: number; holders: number }[] = Array.from({ length: SIZE }, () => ({ holders: 0 }));
  readonly free = [...this.blocks];
  freed = 0;

  match = (hashes: readonly number[]): number => this.#cached(hashes).length;

  grow(hold: BlockHold, hashes: readonly number[], full: number, count: number): boolean {
    const found = this.#cached(hashes.slice(hold.found.length, full));
    const missing = count - hold.found.length - hold.own.length - found.length;
    if (found.filter((block) => block.holders === 0).length + missing > this.free.length) return false;
    this.#share(hold, found);
    for (let left = missing; left > 0; left -= 1) this.take(hold);
    if (missing < 0) for (const block of hold.own.splice(missing)) this.#giveBack(block);
    this.#publish(hold, hashes, full);
    return true;
  }

  take(hold: BlockHold): void {
    const block = this.free.shift() as Block;
    block.holders = 1;
    delete block.hash;
    hold.own.push(block);
  }

  release(hold: BlockHold, hashes: readonly number[], full: number): void {
    this.#share(hold, this.#cached(hashes.slice(hold.found.length, full)));
    this.#publish(hold, hashes, full);
    for (const block of [...hold.own.splice(0), ...hold.found.splice(0).reverse()]) this.#giveBack(block);
  }

  reset(): void {
    for (const block of this.free) delete block.hash;
  }

  /** Blocks of the longest beginning that is there. */
  #cached(hashes: readonly number[]): Block[] {
    const found = hashes.map((hash) => this.blocks.find((block) => block.hash === hash));
    const missing = found.indexOf(undefined);
    return (missing < 0 ? found : found.slice(0, missing)) as Block[];
  }

  #share(hold: BlockHold, found: readonly Block[]): void {
    for (const block of found) {
      if (block.holders === 0) this.free.splice(this.free.indexOf(block), 1);
      block.holders += 1;
      hold.found.push(block);
    }
  }

  #publish(hold: BlockHold, hashes: readonly number[], full: number): void {
    while (hold.found.length < full) {
      const block = hold.own.shift() as Block;
      block.hash = hashes[hold.found.length] as number;
      hold.found.push(block);
    }
  }

  #giveBack(block: Block): void {
    block.holders -= 1;
    if (block.holders > 0) return;
    this.free.push(block);
    this.freed += 1;
  }
}

type Block = BlockCache['blocks'][number];
interface BlockHold {
  readonly found: Block[];
  readonly own: Block[];
}

/** Hashes of the prefixes of a text over three letters. */
const hashesOf = (text: readonly number[]): number[] =>
  text.map((_, index) => Number.parseInt(`1${text.slice(0, index + 1).join('')}`, 3));

const rangeOf = new Map<string, number>();

/** The same as numbers that follow each other, as those of made-up texts do: a new range where another letter comes than 0. */
function numbersOf(text: readonly number[]): number[] {
  let number = 0;
  return text.map((letter, index) => {
    const way = text.slice(0, index + 1).join('');
    if (letter !== 0 && !rangeOf.has(way)) rangeOf.set(way, (rangeOf.size + 1) * 100);
    number = letter === 0 ? number + 1 : (rangeOf.get(way) as number);
    return number;
  });
}

/** Those numbers as spans of some that follow each other. */
function spansOf(numbers: readonly number[]): BlockHashes {
  const spans = new Spans().reset(numbers.length);
  const base = (block: number) => (numbers[block] as number) - block;
  for (let block = numbers.length - 1; block >= 0; block -= 1)
    if (block === 0 || base(block) !== base(block - 1)) spans.prepend(block, base(block));
  return spans;
}

/** What blocks are known by, and how an engine is told. */
const READINGS = [
  { read: hashesOf, tell: (hashes: readonly number[]) => new HashList(hashes) },
  { read: numbersOf, tell: (hashes: readonly number[]) => new HashList(hashes) },
  { read: numbersOf, tell: spansOf },
];

const OPERATIONS = { grow: 6, decode: 2, release: 4, reset: 1 } as const;
type Operation = keyof typeof OPERATIONS;
const operations = fc.array(
  fc.record({
    type: fc.constantFrom(
      ...Object.entries(OPERATIONS).flatMap(([type, weight]) => Array<Operation>(weight).fill(type as Operation)),
    ),
    which: fc.nat(HOLDS - 1),
    by: fc.nat(5),
  }),
  { maxLength: 60, size: 'max' },
);
/** Texts that often begin alike. */
const texts = fc.array(fc.array(fc.constantFrom(0, 0, 0, 0, 1, 2), { minLength: 1, maxLength: LENGTH_MAX }), {
  minLength: 4,
  maxLength: 4,
});

it('the cache of runs does what one of single blocks does: the least recently freed go first', () => {
  fc.assert(
    fc.property(texts, operations, fc.constantFrom(...READINGS), (many, script, { read, tell }) => {
      const [cache, model] = [new KvCache(SIZE), new BlockCache()];
      const all = many.map((text) => ({ hashes: read(text), told: tell(read(text)) }));
      let next = 0;
      const place = () => ({
        hold: new KvHold(),
        blocks: { found: [], own: [] },
        ...(all[next++ % 4] as (typeof all)[number]),
      });
      const places = Array.from({ length: HOLDS }, place);
      for (const { type, which, by } of script) {
        const { hold, blocks, hashes, told } = places[which] as ReturnType<typeof place>;
        if (type === 'grow') {
          const count = Math.min(hashes.length + 1, hold.blocks + by);
          // Every other time the last block is not full yet.
          const full = Math.max(hold.cached, Math.min(hashes.length, count - (by % 2)));
          const fits = cache.grow(hold, told, full, count);
          expect(model.grow(blocks, hashes, full, count)).toBe(fits);
        } else if (type === 'decode' && cache.free > 0) {
          cache.take(1);
          hold.blocks += 1;
          model.take(blocks);
        } else if (type === 'release') {
          const full = Math.min(hashes.length, hold.blocks);
          cache.release(hold, told, full);
          model.release(blocks, hashes, full);
          places[which] = place();
        } else if (type === 'reset') for (const each of [cache, model]) each.reset();
        expect([cache.free, cache.freed]).toEqual([model.free.length, model.freed]);
        expect(all.map((text) => cache.match(text.told))).toEqual(all.map((text) => model.match(text.hashes)));
      }
    }),
    { numRuns: 900, seed: 4 },
  );
});

it('refuses to hand out more than is free', () => {
  const cache = new KvCache(2);
  expect(() => cache.take(3)).toThrow(RangeError);
});
