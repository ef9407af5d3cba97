const ENTRIES_MAX = 1024;

/** A map that makes missing values, and forgets the longest unused. */
export class Recent<Key, Value, From = void> {
  readonly #values = new Map<Key, Value>();

  constructor(
    private readonly make: (key: Key, from: From) => Value,
    private readonly entriesMax = ENTRIES_MAX,
  ) {}

  /** @param from of what to make a missing value */
  get(key: Key, from: From): Value {
    const value = this.#values.get(key) ?? this.make(key, from);
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > this.entriesMax) this.#values.delete(this.#values.keys().next().value as Key);
    return value;
  }

  /** The value as it is, which counts as no use. */
  peek(key: Key): Value | undefined {
    return this.#values.get(key);
  }
}
