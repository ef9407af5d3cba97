import { describe, expect, it } from 'vitest';
import { gridLines, gridOf, intervalText, meanOf, ratioText, spread, type Columns } from '../../../lab/index.js';
import { Sample } from '../../../lab/measure/sample.js';
import { percent } from '../../../text/index.js';

function distribution(values: readonly number[]) {
  const sample = new Sample(1);
  for (const value of values) sample.add(value);
  return { times: sample.distribution(), share: values.length > 1 ? 0.5 : null };
}
const [many, few] = [distribution(Array.from({ length: 200 }, (_, at) => at)), distribution([7])];
const groups: readonly Columns<typeof many>[] = [
  { heading: 'time, ms', columns: spread([many, few], (item) => item.times, 1000) },
  { heading: '', columns: [{ heading: 'share', of: (item) => item.share, show: percent }] },
];

describe('a grid', () => {
  it('has the mean of the items of each row, scaled, and of fewer than 100 values no p99', () => {
    const grid = gridOf('case', groups, [
      ['both', [many, few]],
      ['none', []],
    ]);
    expect(grid.groups.map(({ columns }) => columns.join(' '))).toEqual(['mean p50 max', 'share']);
    expect(grid.rows.map((row) => row.join(' '))).toEqual(['both 53,250 53,000 103,000 50.0 %', 'none - - - -']);
  });

  it('shows its cells on a terminal, and nothing without rows', () => {
    const grid = gridOf('case', groups, [['one', [few]]]);
    expect(gridLines(grid, 80).at(-1)!.split(/ {2,}/)).toEqual(grid.rows[0]);
    expect(gridLines({ ...grid, rows: [] }, 80)).toEqual([]);
  });
});

it('a ratio tells its interval, and how many it is over', () => {
  expect(ratioText({ ratio: 0.5, low: 0.4, high: 0.6, pairs: 3 })).toBe('0.50 (0.40–0.60)');
  expect(ratioText({ ratio: 0.012, low: 3.2e-6, high: 42.5, pairs: 2 })).toBe('0.012 (wide interval)');
  expect(ratioText({ ratio: 0.5, low: null, high: null, pairs: 1 })).toBe('0.50');
  expect(intervalText(1, 'runs')).toBe('No confidence interval: it takes several runs.');
  expect(intervalText(3, 'runs')).toBe('In brackets: 95 % confidence over 3 runs.');
  expect([meanOf([1, null, 3, NaN]), meanOf([null])]).toEqual([2, null]);
});
