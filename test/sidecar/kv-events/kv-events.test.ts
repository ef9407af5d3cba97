import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../sidecar/config/load.js';
import { readBatch, type Batch, type KvEvent } from '../../../sidecar/kv-events/batch.js';
import { startKvEvents, type KvEvents } from '../../../sidecar/kv-events/index.js';
import { ResidentBlocks } from '../../../sidecar/kv-events/resident.js';

/** Six events as vLLM's own encoder (msgspec) writes them: maps now, arrays in older versions and SGLang. */
const WIRE = {
  maps: [
    '93cb41dac0d033a00000968ca474797065ab426c6f636b53746f726564ac626c6f636b5f68617368657392cf800000000000',
    '000507b1706172656e745f626c6f636b5f68617368c0a9746f6b656e5f6964739401ccc8ce0001117004aa626c6f636b5f73',
    '697a6502a76c6f72615f6964c0a66d656469756da3475055a96c6f72615f6e616d65c0aa65787472615f6b65797392c0c0a9',
    '67726f75705f69647800b26b765f63616368655f737065635f6b696e64ae66756c6c5f617474656e74696f6eaa7365737369',
    '6f6e5f6964a3732d3184a474797065ac426c6f636b52656d6f766564ac626c6f636b5f6861736865739107a66d656469756d',
    'a3475055a967726f75705f6964780088a474797065ab426c6f636b53746f726564ac626c6f636b5f6861736865739109b170',
    '6172656e745f626c6f636b5f6861736807a9746f6b656e5f6964739101aa626c6f636b5f73697a6501a76c6f72615f6964c0',
    'a66d656469756da3435055a96c6f72615f6e616d65c089a474797065ab426c6f636b53746f726564ac626c6f636b5f686173',
    '6865739109b1706172656e745f626c6f636b5f6861736807a9746f6b656e5f696473920102aa626c6f636b5f73697a6502a7',
    '6c6f72615f6964c0a66d656469756da3475055a96c6f72615f6e616d65c0a967726f75705f6964780181a474797065b0416c',
    '6c426c6f636b73436c656172656488a474797065ab426c6f636b53746f726564ac626c6f636b5f68617368657391c4200101',
    '010101010101010101010101010101010101010101010101010101010101b1706172656e745f626c6f636b5f68617368c0a9',
    '746f6b656e5f696473920102aa626c6f636b5f73697a6502a76c6f72615f6964c0a66d656469756dc0a96c6f72615f6e616d',
    '65c003',
  ].join(''),
  arrays: [
    '93cb41dac0d033a00000969cab426c6f636b53746f72656492cf800000000000000507c09401ccc8ce000111700402c0a347',
    '5055c092c0c000ae66756c6c5f617474656e74696f6ea3732d3194ac426c6f636b52656d6f7665649107a3475055009cab42',
    '6c6f636b53746f726564910907910101c0a3435055c0c0c0c0c09cab426c6f636b53746f72656491090792010202c0a34750',
    '55c0c001c0c091b0416c6c426c6f636b73436c65617265649cab426c6f636b53746f72656491c42001010101010101010101',
    '01010101010101010101010101010101010101010101c092010202c0c0c0c0c0c0c0c0',
  ].join(''),
};
const frames = (payload: Buffer, seq = 0n, topic = 'a') => {
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(seq);
  return [Buffer.from(topic), number, payload];
};

describe('a message', () => {
  it.each([
    ['maps', 3],
    ['arrays', 0],
  ] as const)('with %s has the events of the engine’s own cache, the first group of each', (form, rank) => {
    expect(readBatch(frames(Buffer.from(WIRE[form], 'hex'), 2n ** 32n))).toEqual({
      seq: 2 ** 32,
      rank,
      events: [
        { type: 'stored', blocks: [2 ** 63, 7], blockTokens: 2 },
        { type: 'removed', blocks: [7] },
        { type: 'cleared' },
        { type: 'stored', blocks: [0x010101010101], blockTokens: 2 },
      ],
    });
  });

  it('is refused if it is damaged, and never throws', () => {
    const good = Buffer.from(WIRE.maps, 'hex');
    const cuts = Array.from({ length: good.length }, (_, length) => frames(good.subarray(0, length)));
    expect(cuts.filter((cut) => readBatch(cut) !== undefined)).toEqual([]);
    expect(readBatch(frames(Buffer.concat([good, good])))).toBeUndefined();
    expect(readBatch(frames(good).slice(1))).toBeUndefined();
    expect(readBatch([Buffer.of(), Buffer.alloc(7), good])).toBeUndefined();
    // Lengths beyond the message, and nesting without end.
    for (const start of ['dd7fffffff', 'df7fffffff', 'c67fffffff', 'db7fffffff', '91'.repeat(100_000)]) {
      expect(readBatch(frames(Buffer.from(`92cb0000000000000000${start}`, 'hex')))).toBeUndefined();
    }
    // A later event, named like a property of all objects.
    const later = `93cb00000000000000009192ab${Buffer.from('constructor').toString('hex')}01c0`;
    expect(readBatch(frames(Buffer.from(later, 'hex')))).toMatchObject({ events: [] });
    const change = fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = Buffer.from(good);
        for (const [at, byte] of changes) bytes[at] = byte;
        const batch = readBatch(frames(bytes));
        expect(batch?.events.every(({ type }) => ['stored', 'removed', 'cleared'].includes(type))).not.toBe(false);
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});

describe('the cache of an engine', () => {
  const stored = (...blocks: number[]): KvEvent => ({ type: 'stored', blocks, blockTokens: 16 });
  const removed = (...blocks: number[]): KvEvent => ({ type: 'removed', blocks });
  const cleared: KvEvent = { type: 'cleared' };
  const batch = (seq: number, events: KvEvent[] = [], rank = 0): Batch => ({ seq, rank, events });
  const after = (batches: readonly Batch[], blocksMax = 100) => {
    const cache = new ResidentBlocks();
    for (const each of batches) cache.take(each, blocksMax);
    return cache.read();
  };

  it.each([
    [
      'counts blocks once, also those told again',
      [batch(0, [stored(1, 2)]), batch(1, [stored(2, 3), removed(1, 9)])],
      [2, 0, true],
    ],
    ['is known whole once it was cleared', [batch(7, [stored(1), cleared, stored(2)])], [1, 0, true]],
    ['misses blocks of before', [batch(7, [stored(1)]), batch(8)], [1, 0, false]],
    ['tells gaps', [batch(0), batch(2), batch(3), batch(9, [stored(1)])], [1, 2, false]],
    ['begins anew with the engine', [batch(0, [stored(1)]), batch(1), batch(0, [stored(2, 3)])], [2, 0, true]],
    ['misses the beginning of a new one', [batch(0, [stored(1)]), batch(5), batch(2, [stored(2)])], [1, 1, false]],
    ['adds up its ranks', [batch(0, [stored(1)]), batch(0, [stored(1), cleared, stored(2, 3)], 1)], [3, 0, true]],
  ] as const)('%s', (_, batches, [blocks, gaps, isComplete]) => {
    const last = batches.at(-1)!.seq;
    expect(after(batches)).toEqual({ blocks, tokens: 16 * blocks, lastSeq: last, gaps, isComplete });
  });

  it('remembers no more blocks than allowed, the latest', () => {
    const batches = [batch(0, [stored(1, 2, 3)]), batch(1, [stored(1)]), batch(2, [stored(4)]), batch(3, [removed(1)])];
    expect(after(batches, 3)).toMatchObject({ blocks: 2, tokens: 32, isComplete: false });
  });
});

describe('the socket', () => {
  const { kvEvents: off } = loadConfig({});
  const settings = { ...off, port: 5557, ranks: 4 };

  class FakeSocket {
    static readonly made: FakeSocket[] = [];
    readonly bound: string[] = [];
    isClosed = false;
    #messages: Buffer[][] = [];
    #wake = () => undefined as unknown;

    constructor() {
      FakeSocket.made.push(this);
    }
    bind(address: string): Promise<void> {
      if (address.endsWith(':9')) return Promise.reject(new Error('taken'));
      this.bound.push(address);
      return Promise.resolve();
    }
    subscribe(): void {}
    send(message: Buffer[]): void {
      this.#messages.push(message);
      this.#wake();
    }
    close(): void {
      this.isClosed = true;
      this.#wake();
    }
    async *[Symbol.asyncIterator]() {
      while (!this.isClosed) {
        yield* this.#messages.splice(0);
        if (this.#messages.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }

  const start = (engines: Set<string>, config: typeof off = settings) => {
    const warned: unknown[] = [];
    const tell = (fields: object) => void warned.push(fields);
    const started = startKvEvents({
      config: () => config,
      isEngine: (id) => engines.has(id),
      log: { debug: tell, info: tell, warn: tell },
      load: () => Promise.resolve({ Subscriber: FakeSocket }),
    });
    return { started, warned };
  };
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

  it('takes the events of each engine by its topic, and refuses others', async () => {
    const engines = new Set(['a', 'b:8000']);
    const { started, warned } = start(engines);
    const listener = (await started) as KvEvents;
    const socket = FakeSocket.made.at(-1)!;
    expect(socket.bound).toEqual([5557, 5558, 5559, 5560].map((port) => `tcp://127.0.0.1:${port}`));
    const good = Buffer.from(WIRE.maps, 'hex');
    for (const topic of ['a', 'kv@b:8000@model', 'c', 'c', '']) socket.send(frames(good, 0n, topic));
    socket.send(frames(Buffer.of(1), 1n, 'a'));
    // Rank 4 of four, from 0.
    socket.send(frames(Buffer.concat([good.subarray(0, -1), Buffer.of(4)]), 1n, 'a'));
    await turn();
    const known = { blocks: 1, tokens: 2, lastSeq: 0, gaps: 0, isComplete: true };
    expect([listener.of('a' as never), listener.of('b:8000' as never)]).toEqual([known, known]);
    expect(listener.refused).toEqual({ malformed: 2, unknown_engine: 3 });
    expect(warned).toMatchObject([{ topic: 'c' }, { topic: 'a' }]);

    // An engine that has gone is forgotten when another begins to tell.
    engines.delete('a');
    engines.add('c');
    socket.send(frames(good, 0n, 'c'));
    await turn();
    expect([listener.of('a' as never), listener.of('c' as never)]).toEqual([undefined, known]);
    await listener.close();
    expect(socket.isClosed).toBe(true);
  });

  it('is not made without a port, and says what is missing', async () => {
    expect(await start(new Set(), { ...settings, port: null }).started).toBeUndefined();
    await expect(start(new Set(), { ...settings, port: 9 }).started).rejects.toMatchObject({
      cause: { message: 'taken' },
    });
    expect(FakeSocket.made.at(-1)!.isClosed).toBe(true);
    const cause = new Error('no such package');
    const log = { debug: () => {}, info: () => {}, warn: () => {} };
    const ports = { config: () => settings, isEngine: () => true, log, load: () => Promise.reject(cause) };
    await expect(startKvEvents(ports)).rejects.toMatchObject({ cause });
  });
});
