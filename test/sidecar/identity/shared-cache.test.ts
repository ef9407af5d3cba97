import { describe, expect, it } from 'vitest';
import { tenantId } from '../../../src/index.js';
import { SharedCache } from '../../../sidecar/identity/memory.js';

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
