import fc from 'fast-check';
import { expect, it, describe } from 'vitest';
import { hashOf } from '../../../sidecar/identity/growing.js';
import { idOf, standsAlone, wholeOf } from '../../../sidecar/identity/marked.js';
import { SharedCache } from '../../../sidecar/identity/memory.js';
import { tenantId } from '../../../src/index.js';

it('hashes a part of a text like the part alone, however long the text', () => {
  const filler = 'x'.repeat(131_072);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(3), fc.nat(2), (part, odd, fillers) => {
      const before = 'y'.repeat(odd) + filler.repeat(fillers);
      expect(hashOf(before + part + filler, before.length, before.length + part.length)).toBe(hashOf(part));
    }),
    { seed: 1 },
  );
  const [long, longer] = [filler + filler + 'a', filler + filler + 'b'];
  expect(hashOf(`z${long}`, 1)).toBe(hashOf(long));
  expect(hashOf(long)).not.toBe(hashOf(longer));
});

const said = (content: string) => ({ role: 'assistant', content });

it('identifies an answer alone from 64 characters on, and with the message before it from 32', () => {
  const of = (chars: number) => {
    const message = said('x'.repeat(chars));
    return wholeOf(message) === undefined ? 'never' : standsAlone({ chars }) ? 'alone' : 'with the message before';
  };
  expect([31, 32, 63, 64].map(of)).toEqual(['never', 'with the message before', 'with the message before', 'alone']);
});

it('is not an id that no engine would make', () => {
  const called = (id: string) => idOf({ ...said(''), callIds: id });
  expect([called('x'.repeat(128)), called('x'.repeat(129))]).toEqual([`i${'x'.repeat(128)}`, undefined]);
});

const [small, large] = [tenantId('small'), tenantId('large')];

describe('a memory that tenants share', () => {
  it('keeps what a tenant has while another fills it', () => {
    const cache = new SharedCache<number>(10);
    for (let i = 0; i < 3; i++) cache.set(small, `s${i}`, i);
    for (let i = 0; i < 1000; i++) cache.set(large, `l${i}`, i);
    expect([0, 1, 2].map((i) => cache.get(small, `s${i}`))).toEqual([0, 1, 2]);
    expect([992, 993, 999].map((i) => cache.get(large, `l${i}`))).toEqual([undefined, 993, 999]);
  });

  it('gives one that comes late its share', () => {
    const cache = new SharedCache<number>(10);
    for (let i = 0; i < 10; i++) cache.set(large, i, i);
    for (let i = 0; i < 8; i++) cache.set(small, i, i);
    const held = (tenant: typeof small) =>
      Array.from({ length: 10 }, (_, i) => i).filter((i) => cache.get(tenant, i) !== undefined);
    expect([held(large), held(small)]).toEqual([
      [5, 6, 7, 8, 9],
      [3, 4, 5, 6, 7],
    ]);
  });

  it('drops the least recently used, by size', () => {
    const cache = new SharedCache<readonly number[]>(6, (list) => list.length);
    cache.set(small, 'a', [1]);
    cache.set(small, 'b', [1, 2]);
    cache.set(small, 'c', [1, 2, 3]);
    expect(cache.get(small, 'a')).toEqual([1]);
    cache.set(small, 'a', [1, 2]);
    expect(['a', 'b', 'c'].map((key) => cache.get(small, key)?.length)).toEqual([2, undefined, 3]);
  });
});
