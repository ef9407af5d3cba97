import { describe, expect, it } from 'vitest';
import { barChart, lineChart } from '../../../lab/report/plot.js';

const TEXT = { title: 'Latency & <load>', description: 'How "it" grows' };
const x = { label: 'rate' };
const y = { label: 'seconds' };
const points = (...values: (number | null)[]) => values.map((value, index) => ({ x: index + 1, y: value }));

/** Lines and curves of the marks, not those of axes. */
const lines = (svg: string) =>
  [...svg.matchAll(/<g aria-label="line"[^>]*>(.*?)<\/g>/g)].flatMap(([, inside = '']) =>
    [...inside.matchAll(/ d="([^"]*)"/g)].map(([, d]) => d!),
  );
const count = (svg: string, part: RegExp) => [...svg.matchAll(part)].length;

const CHARTS: readonly (readonly [string, () => Promise<string>])[] = [
  [
    'lines',
    () =>
      lineChart({
        ...TEXT,
        x,
        y,
        series: [
          { name: 'a<b', points: points(1, 2) },
          { name: 'c'.repeat(90), points: points(3, 1) },
        ],
      }),
  ],
  [
    'bars',
    () =>
      barChart({
        ...TEXT,
        y,
        groups: ['a<b', 'q'],
        series: [
          { name: 'one', values: [1, 2] },
          { name: 'two', values: [2, null] },
        ],
      }),
  ],
];

describe.each(CHARTS)('a chart of %s', (_, make) => {
  it('is complete in itself and tells what it shows', async () => {
    const svg = await make();
    expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    expect(svg).toContain('<title>Latency &amp; &lt;load&gt;</title><desc>How &quot;it&quot; grows</desc>');
    expect(svg).toContain('prefers-color-scheme');
    expect(svg).not.toMatch(/NaN|undefined|url\(|href|a<b/);
  });

  it('has the same bytes for the same data', async () => {
    expect(await make()).toBe(await make());
  });

  it('has no number with more digits than can be seen', async () => {
    expect(await make()).not.toMatch(/ (?:d|transform|x|y|width|height)="[^"]*\d\.\d{3}/);
  });
});

describe('lines', () => {
  it('leave out what a logarithmic axis cannot show', async () => {
    const series = [
      {
        name: 'a',
        points: [
          { x: 1, y: 0 },
          { x: 2, y: 3 },
          { x: 4, y: 5 },
        ],
      },
    ];
    const svg = await lineChart({ ...TEXT, x, y, series });
    expect(count(svg, /<g aria-label="dot"/g)).toBe(1);
    expect(lines(svg)[0]!.match(/[ML]/g)).toEqual(['M', 'L']);
  });
});

describe('bars', () => {
  it('tell where a value may lie', async () => {
    const ranged = { name: 'a', values: [0.3634, 1], ranges: [[0.33, 0.44], null] as const };
    const svg = await barChart({ ...TEXT, y, groups: ['p', 'q'], series: [ranged] });
    expect(svg).toContain('<title>p, a: 0.363, between 0.33 and 0.44</title>');
    expect(svg).toContain('>0.36<');
    expect(svg.match(/stroke="var\(--text\)"/g)).toHaveLength(1);
  });
});
