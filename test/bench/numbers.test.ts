import { afterEach, expect, it, vi } from 'vitest';
import { printTable } from '../../bench/numbers.js';

afterEach(() => vi.restoreAllMocks());

it('a table that is wider than a page goes on below, with the names of its rows', () => {
  let out = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  const figures = Array.from({ length: 12 }, (_, i) => `figure number ${i}`);
  const row = ['~1,234', '0.5', '1.2x', '', ...figures.slice(4).map((_, i) => `${i}`)];
  printTable(['case', 'through', ...figures], [['JSON, 2 KB', 'maitred', ...row]]);
  const blocks = out.trimEnd().split('\n\n').map((block) => block.split('\n')); // prettier-ignore
  expect(blocks.length).toBeGreaterThan(1);
  for (const [headings, cells] of blocks) {
    expect(headings!.length).toBeLessThanOrEqual(120);
    expect(headings).toMatch(/^case, through /);
    expect(cells).toMatch(/^JSON, 2 KB, maitred /);
  }
  for (const figure of figures) expect(blocks.filter(([headings]) => headings!.includes(`${figure}  `) || headings!.endsWith(figure))).toHaveLength(1); // prettier-ignore
});
