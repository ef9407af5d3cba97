/** The value that a share `p` of the values, in any order, does not exceed. NaN without values. */
export function percentile(values: Iterable<number>, p: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? NaN;
}

export const median = (values: Iterable<number>): number => percentile(values, 0.5);

/** A number with three significant digits, and commas between thousands. */
export function show(value: number | undefined, unit = ''): string {
  if (value === undefined || !Number.isFinite(value)) return '-';
  return value.toLocaleString('en', { maximumSignificantDigits: Math.abs(value) < 1000 ? 3 : 4 }) + unit;
}

export const ratio = (value: number): string => (Number.isFinite(value) ? `${value.toFixed(2)}x` : '-');

/** Columns of a terminal, or of a page where the output is no terminal. */
const widthMax = (): number => (process.stdout.isTTY ? process.stdout.columns : 120);
const FIGURE = /^~?-?[\d.,]*[x%]?$/;

/**
 * Prints rows under their headings, numbers to the right. Columns without room continue below, after the names of their
 * rows: the first column, and those up to the first one of figures.
 */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map((row) => (row[i] ?? '').length)));
  const firstFigure = headings.findIndex((_, i) => i > 0 && rows.every((row) => FIGURE.test(row[i] ?? '')));
  const names = [...headings.keys()].slice(0, Math.max(1, firstFigure));
  const widthOf = (columns: readonly number[]) => columns.reduce((sum, i) => sum + (widths[i] ?? 0) + 2, -2);
  const parts: number[][] = [];
  for (const i of [...headings.keys()].slice(names.length)) {
    const part = parts.at(-1);
    if (part !== undefined && widthOf([...part, i]) <= widthMax()) part.push(i);
    else parts.push([...names, i]);
  }
  const line = (cells: readonly string[], columns: readonly number[]) =>
    columns
      .map((i) => (i === 0 ? (cells[i] ?? '').padEnd(widths[i] ?? 0) : (cells[i] ?? '').padStart(widths[i] ?? 0)))
      .join('  ');
  const block = (columns: readonly number[]) =>
    [headings, widths.map((n) => '-'.repeat(n)), ...rows].map((cells) => `${line(cells, columns)}\n`).join('');
  process.stdout.write(parts.map(block).join('\n'));
}

export const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Deterministic numbers from 0 up to 1: every run sees the same load. */
export function makeRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
