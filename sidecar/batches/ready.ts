const BITS = 32;

/** Whole numbers below a bound, as bits; in each higher level a bit for each word below that has any. */
export class Ready {
  readonly #levels: Uint32Array[] = [];
  #size = 0;

  constructor(bound: number) {
    let words = Math.ceil(bound / BITS);
    for (; words > 1; words = Math.ceil(words / BITS)) this.#levels.push(new Uint32Array(words));
    this.#levels.push(new Uint32Array(1));
  }

  get size(): number {
    return this.#size;
  }

  add(value: number): void {
    const [lowest] = this.#levels;
    if (((lowest?.[value >>> 5] ?? 0) & (1 << (value & 31))) !== 0) return;
    this.#size += 1;
    let at = value;
    for (const words of this.#levels) {
      words[at >>> 5] = (words[at >>> 5] ?? 0) | (1 << (at & 31));
      at >>>= 5;
    }
  }

  /** Removes the least number from `from` to below `to`, or without one the largest of all. */
  take(from: number, to: number): number | undefined {
    if (this.#size === 0) return undefined;
    const next = this.#next(from);
    const taken = next !== undefined && next < to ? next : this.#largest();
    this.#delete(taken);
    return taken;
  }

  #delete(value: number): void {
    this.#size -= 1;
    let at = value;
    for (const words of this.#levels) {
      const left = (words[at >>> 5] ?? 0) & ~(1 << (at & 31));
      words[at >>> 5] = left;
      if (left !== 0) return;
      at >>>= 5;
    }
  }

  /** The least number from this one on. */
  #next(from: number): number | undefined {
    let at = from;
    for (const [level, words] of this.#levels.entries()) {
      const word = at >>> 5;
      const bits = word < words.length ? (words[word] ?? 0) & (-1 << (at & 31)) : 0;
      if (bits !== 0) return this.#down(level, (word << 5) + 31 - Math.clz32(bits & -bits));
      at = word + 1;
    }
    return undefined;
  }

  #down(level: number, found: number): number {
    let at = found;
    for (let below = level - 1; below >= 0; below--) {
      const bits = this.#levels[below]?.[at] ?? 0;
      at = (at << 5) + 31 - Math.clz32(bits & -bits);
    }
    return at;
  }

  #largest(): number {
    let at = 0;
    for (const words of this.#levels.toReversed()) at = (at << 5) + 31 - Math.clz32(words[at] ?? 0);
    return at;
  }
}
