/** Entries of a map, unless told otherwise. */
const ENTRIES_MAX = 1024;

/** A map that makes missing values, and forgets the longest unused. */
export class Recent<Key, Value> {
  readonly #values = new Map<Key, Value>();

  constructor(
    private readonly make: (key: Key) => Value,
    private readonly entriesMax = ENTRIES_MAX,
  ) {}

  get(key: Key): Value {
    const value = this.#values.get(key) ?? this.make(key);
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > this.entriesMax)
      for (const oldest of this.#values.keys()) return this.#forget(oldest, value);
    return value;
  }

  #forget(oldest: Key, value: Value): Value {
    this.#values.delete(oldest);
    return value;
  }
}
