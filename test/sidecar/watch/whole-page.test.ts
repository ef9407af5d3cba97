import { expect, it } from 'vitest';
import { wholePage } from '../../../sidecar/admin/watch.js';
import { readProgramQuery } from '../../../sidecar/admin/query.js';

it('goes on behind the thousand rows that another gateway tells at once', async () => {
  const rows = Array.from({ length: 2500 }, (_, age) => ({ key: `k${age}`, age_seconds: age, state: 'idle' }));
  const asked: [number, number][] = [];
  const ask = (question: string) => {
    const [, , [search = '']] = JSON.parse(question) as [string, string, string[]];
    const { offset, limit } = readProgramQuery(new URLSearchParams(search));
    asked.push([offset, limit]);
    const programs = rows.slice(offset, offset + limit);
    return Promise.resolve(new Map([['b', JSON.stringify({ programs, total: rows.length, limit, offset })]]));
  };
  const context = { peers: { gateway: 'a', silent: [], ask }, driver: { now: () => 0, views: { causesOf: () => [] } } };
  const pageAt = async (offset: number) => {
    const query = readProgramQuery(new URLSearchParams(`sort=age_seconds&limit=100&offset=${offset}`));
    return (await wholePage(context as never, [], query))();
  };
  const { programs, total } = await pageAt(1950);
  expect([total, programs.length, programs[0]?.key, programs[99]?.key]).toEqual([2500, 100, 'k1950', 'k2049']);
  expect(asked.splice(0)).toEqual([[0, 1000], [1000, 1000], [2000, 50]]); // prettier-ignore
  // No page is asked for behind the last.
  expect((await pageAt(9000)).programs).toEqual([]);
  expect(asked).toHaveLength(3);
});
