import { describe, expect, it } from 'vitest';
import { textTable } from '../../text/index.js';

const GROUPS = [
  { heading: 'program, s', columns: ['mean', 'p99'] },
  { heading: 'call in queue, s', columns: ['mean', 'p50', 'p95', 'p99'] },
  { heading: '', columns: ['failed'] },
];
const ROWS = [
  ['plas', '950', '3,620', '12.5', '7', '80', '99', '0'],
  ['las-decayed', '1', '2', '3', '4', '5', '6', '7'],
];
const wordsOf = (lines: readonly string[]) => new Set(lines.flatMap((line) => line.match(/\S+/g) ?? []));

describe('a table of text', () => {
  it('stands groups of columns beside each other where there is room', () => {
    expect(textTable('policy', GROUPS, ROWS)).toEqual([
      '                program, s       call in queue, s',
      'policy         mean    p99    mean  p50  p95  p99    failed',
      'plas            950  3,620    12.5    7   80   99         0',
      'las-decayed       1      2       3    4    5    6         7',
    ]);
  });

  it('begins anew below where there is none, with the labels before each', () => {
    expect(textTable('policy', GROUPS, ROWS, 40)).toEqual([
      '                program, s',
      'policy         mean    p99',
      'plas            950  3,620',
      'las-decayed       1      2',
      '',
      '                  call in queue, s',
      'policy         mean  p50  p95  p99',
      'plas           12.5    7   80   99',
      'las-decayed       3    4    5    6',
      '',
      'policy         failed',
      'plas                0',
      'las-decayed         7',
    ]);
  });

  it('parts a group that is wider than that', () => {
    const lines = textTable('policy', [{ heading: 'queue', columns: ['mean', 'p50', 'p95', 'p99'] }], ROWS, 30);
    expect(lines.filter((line) => line.trim() === 'queue')).toHaveLength(2);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(30);
  });

  it('leaves nothing out, however narrow', () => {
    const whole = wordsOf(textTable('policy', GROUPS, ROWS));
    for (const width of [1, 20, 35, 60, 80]) expect(wordsOf(textTable('policy', GROUPS, ROWS, width))).toEqual(whole);
  });
});
