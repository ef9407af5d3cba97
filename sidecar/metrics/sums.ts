import type { Scraped } from './scraped.js';

/** A counter, or one value of its second label. Counters of the same name have the same help. */
export type Sum = readonly [name: string, help: string, labels?: Readonly<Record<string, string>>];

/** Bounds the label's values. */
export interface SumsBound {
  /** Whether a row may stay; the others leave before a new one comes, and during a scrape. */
  readonly stays: (value: string) => boolean;
  /** Most rows; further values share the row `OTHER`. */
  readonly rowsMax: () => number;
}

/** Not a valid name of a tenant or an engine, so it never stands for one. */
export const OTHER = '(other)';

/** Counters by one label, added to plain objects. They become series in a scrape: calls pay for no texts of labels. */
export class Sums<Key extends string> {
  readonly #rows = new Map<string, Record<Key, number>>();
  readonly #keys: readonly Key[];

  constructor(
    scraped: Scraped,
    label: string,
    sums: Readonly<Record<Key, Sum>>,
    private readonly bound: SumsBound,
  ) {
    this.#keys = Object.keys(sums) as Key[];
    const samplesOf = (key: Key) =>
      [...this.#rows].map(([value, row]) => [{ [label]: value, ...sums[key][2] }, row[key]] as const);
    for (const name of new Set(this.#keys.map((key) => sums[key][0]))) {
      const keys = this.#keys.filter((key) => sums[key][0] === name);
      const [, help, labels = {}] = sums[keys[0] as Key];
      scraped(name, help, [label, ...Object.keys(labels)], () => {
        this.#prune();
        return keys.flatMap(samplesOf);
      });
    }
  }

  of(value: string): Record<Key, number> {
    return this.#rows.get(value) ?? this.#make(value);
  }

  values(): IterableIterator<string> {
    return this.#rows.keys();
  }

  #make(value: string): Record<Key, number> {
    this.#prune();
    if (value !== OTHER && this.#rows.size >= this.bound.rowsMax()) return this.of(OTHER);
    const row = Object.fromEntries(this.#keys.map((key) => [key, 0])) as Record<Key, number>;
    this.#rows.set(value, row);
    return row;
  }

  #prune(): void {
    for (const value of this.#rows.keys()) if (!this.bound.stays(value)) this.#rows.delete(value);
  }
}
