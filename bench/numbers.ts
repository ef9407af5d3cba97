import { tableWidth, textTable } from '../text/index.js';
import { Dice } from '../workloads/index.js';

/** The value that a share `p` of the values, in any order, does not exceed. NaN without values. */
export function percentile(values: Iterable<number>, p: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? NaN;
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export const median = (values: Iterable<number>): number => percentile(values, 0.5);

/** A number with three significant digits, and commas between thousands. */
export function show(value: number): string {
  if (!Number.isFinite(value)) return '-';
  return value.toLocaleString('en', { maximumSignificantDigits: Math.abs(value) < 1000 ? 3 : 4 });
}

export const ratio = (value: number): string => (Number.isFinite(value) ? `${value.toFixed(2)}x` : '-');

const FIGURE = /^~?-?[\d.,]*[x%]?$/;

/** Prints rows under their headings. Their names are the first column, and those up to the first one of figures. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const firstFigure = headings.findIndex((_, i) => i > 0 && rows.every((row) => FIGURE.test(row[i] ?? '')));
  const names = Math.max(1, firstFigure);
  const named = (cells: readonly string[]) => [cells.slice(0, names).join(', '), ...cells.slice(names)];
  const [corner = '', ...columns] = named(headings);
  const lines = textTable(corner, [{ heading: '', columns }], rows.map(named), tableWidth(process.stdout));
  process.stdout.write(`${lines.join('\n')}\n`);
}

export const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Deterministic numbers from 0 up to 1: every run sees the same load. */
export function makeRandom(seed: number): () => number {
  const dice = new Dice(seed);
  return () => dice.share();
}
