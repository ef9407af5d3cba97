/** Levels of nesting; events have four. */
const DEPTH_MAX = 8;

/**
 * Reads MessagePack. Integers of 64 bits become doubles, equal for equal integers. Takes memory in proportion to the
 * bytes, whatever lengths they claim. Source: https://github.com/msgpack/msgpack/blob/master/spec.md
 * @returns the value; undefined for anything but one whole value
 */
export function readMsgpack(bytes: Buffer): unknown {
  try {
    const reader = new Reader(bytes);
    const value = reader.value(0);
    return reader.isAtEnd ? value : undefined;
  } catch (error) {
    // Node's own checks of each read, and ours.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

class Reader {
  #at = 0;

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.#at === this.bytes.length;
  }

  value(depth: number): unknown {
    if (depth > DEPTH_MAX) throw new RangeError('too deep');
    const type = this.#uint(1);
    if (type < 0x80) return type;
    if (type >= 0xe0) return type - 0x100;
    if (type < 0x90) return this.#map(type & 0x0f, depth);
    if (type < 0xa0) return this.#array(type & 0x0f, depth);
    if (type < 0xc0) return this.#text(type & 0x1f);
    return this.#wide(type, depth);
  }

  /** The types whose length or value follows. */
  #wide(type: number, depth: number): unknown {
    switch (type) {
      case 0xc0:
        return null;
      case 0xc2:
      case 0xc3:
        return type === 0xc3;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#take(this.#uint(1 << (type - 0xc4)));
      case 0xca:
        return this.#take(4).readFloatBE();
      case 0xcb:
        return this.#take(8).readDoubleBE();
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:
        return this.#uint(1 << (type - 0xcc));
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3:
        return this.#int(1 << (type - 0xd0));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#uint(1 << (type - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#array(this.#uint(type === 0xdc ? 2 : 4), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#uint(type === 0xde ? 2 : 4), depth);
      default:
        // Extensions: no event has any.
        throw new RangeError('unknown type');
    }
  }

  #array(length: number, depth: number): unknown[] {
    const values: unknown[] = [];
    // A length without as many bytes fails at the first missing one, before memory is taken for the rest.
    for (let index = 0; index < length; index++) values.push(this.value(depth + 1));
    return values;
  }

  #map(length: number, depth: number): Map<unknown, unknown> {
    const entries = new Map<unknown, unknown>();
    for (let index = 0; index < length; index++) entries.set(this.value(depth + 1), this.value(depth + 1));
    return entries;
  }

  #text(length: number): string {
    return this.#take(length).toString('utf8');
  }

  #uint(bytes: number): number {
    const taken = this.#take(bytes);
    return bytes < 8 ? taken.readUIntBE(0, bytes) : Number(taken.readBigUInt64BE());
  }

  #int(bytes: number): number {
    const taken = this.#take(bytes);
    return bytes < 8 ? taken.readIntBE(0, bytes) : Number(taken.readBigInt64BE());
  }

  #take(bytes: number): Buffer {
    const end = this.#at + bytes;
    if (end > this.bytes.length) throw new RangeError('cut short');
    const taken = this.bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}
