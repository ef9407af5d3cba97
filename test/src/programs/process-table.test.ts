import { describe, expect, it } from 'vitest';
import { ProcessTable } from '../../../src/programs/process-table.js';
import { programId, tenantId } from '../../../src/index.js';

const T = tenantId('t');

/** A table with these programs idle since 1, 2, 3, ... ms. */
function tableOf(programsMax: number, ...ids: readonly string[]): ProcessTable {
  const table = new ProcessTable(programsMax);
  for (const [index, id] of ids.entries()) table.rest(table.admit(programId(id), T, 0).row, index + 1);
  return table;
}

const idsOf = (table: ProcessTable) => [...table.rows()].map((row) => row.id as string);

describe('ProcessTable', () => {
  it('full: the row that has been idle longest makes room', () => {
    const table = tableOf(3, 'a', 'b', 'c');
    table.wake(table.get(programId('a'))!);
    const { evicted } = table.admit(programId('d'), T, 9);
    expect([evicted?.id, evicted?.removed, idsOf(table)]).toEqual(['b', 'evicted', ['a', 'c', 'd']]);
  });

  it('full of active rows: a new program gets a row outside the table, and nobody loses theirs', () => {
    const table = new ProcessTable(1);
    table.admit(programId('a'), T, 0);
    const { row, evicted } = table.admit(programId('b'), T, 0);
    expect([evicted, row.removed, idsOf(table)]).toEqual([undefined, 'evicted', ['a']]);
    expect(table.rest(row, 1)).toBe(true);
    expect(table.oldestIdle).toBeUndefined();
  });

  it('keeps idle rows in the order in which they fell idle, through every way out of the list', () => {
    const table = tableOf(9, 'a', 'b', 'c', 'd');
    const order = () => {
      const ids: string[] = [];
      for (let row = table.oldestIdle; row !== undefined; row = row.newerIdle) ids.push(row.id);
      return ids;
    };
    table.wake(table.get(programId('c'))!);
    expect(order()).toEqual(['a', 'b', 'd']);
    table.remove(table.get(programId('d'))!, 'ended');
    table.rest(table.get(programId('c'))!, 7);
    expect(order()).toEqual(['a', 'b', 'c']);
    table.wake(table.get(programId('a'))!);
    table.wake(table.get(programId('a'))!);
    expect(order()).toEqual(['b', 'c']);
    for (const id of ['b', 'c']) table.remove(table.get(programId(id))!, 'expired');
    expect([order(), idsOf(table)]).toEqual([[], ['a']]);
  });

  it('the next row to be presumed ended is the longest idle of the others, whichever of them wake', () => {
    const table = tableOf(9, 'a', 'b', 'c', 'd');
    const [a, b, c] = ['a', 'b', 'c'].map((id) => table.get(programId(id))!);
    for (const row of [a!, b!]) table.presumeEnded(row);
    expect(table.nextIdle).toBe(c);
    for (const row of [b!, a!]) {
      table.wake(row);
      expect([table.nextIdle, row.isPresumedEnded]).toEqual([c, false]);
    }
  });

  it('a row that has left keeps its first cause, and its id can be used again', () => {
    const table = tableOf(2, 'a');
    const row = table.get(programId('a'))!;
    table.remove(row, 'ended');
    table.remove(row, 'expired');
    expect(row.removed).toBe('ended');
    expect(table.admit(programId('a'), T, 9).row).not.toBe(row);
  });
});
