/** Tables of figures that a terminal and a page show alike. */
import { type ColumnGroup, number, ratio, textTable } from '../../text/index.js';
import type { Ratio } from '../measure/comparison.js';
import { type Distribution, statisticsOf } from '../measure/sample.js';

/** A figure of an item, and its format. For several items, their mean is shown. */
export interface Column<Item> {
  readonly heading: string;
  readonly of: (item: Item) => number | null;
  readonly show?: (value: number | null) => string;
}

export interface Columns<Item> {
  /** Above all of them; '' for none. */
  readonly heading: string;
  readonly columns: readonly Column<Item>[];
}

/** Cells under groups of columns. The first cell of a row is its label. */
export interface Grid {
  readonly corner: string;
  readonly groups: readonly ColumnGroup[];
  readonly rows: readonly (readonly string[])[];
}

/** The statistics of a distribution, a column each. */
export const spread = <Item>(
  items: readonly Item[],
  of: (item: Item) => Distribution,
  scale = 1,
  statistics = statisticsOf(items.map(of)),
): Column<Item>[] => statistics.map((heading) => ({ heading, of: (item) => scaled(of(item)[heading], scale) }));

export const scaled = (value: number | null, scale: number): number | null => (value === null ? null : value * scale);

/** @param rows each with the items that its figures are means of */
export function gridOf<Item>(
  corner: string,
  groups: readonly Columns<Item>[],
  rows: readonly (readonly [label: string, items: readonly Item[]])[],
): Grid {
  const shown = groups.flatMap(({ columns }) => columns);
  return {
    corner,
    groups: groups.map(({ heading, columns }) => ({ heading, columns: columns.map((column) => column.heading) })),
    rows: rows.map(([label, items]) => [label, ...shown.map(({ of, show = number }) => show(meanOf(items.map(of))))]),
  };
}

/** Lines for a terminal; none without rows. @param width in characters */
export const gridLines = ({ corner, groups, rows }: Grid, width: number): string[] =>
  rows.length === 0 ? [] : textTable(corner, groups, rows, width);

export const ratioText = (value: Ratio): string =>
  ratio(value.ratio) + (value.low === null ? '' : ` (${spanText(value)})`);

/** An interval whose ends are so many times apart tells nothing. */
const WIDE = 100;

/** A ratio's interval, if it has one. */
export const spanText = ({ low, high }: Ratio): string =>
  (high ?? 0) > WIDE * (low ?? 0) ? 'wide interval' : `${ratio(low)}–${ratio(high)}`;

/** How sure ratios are. @param repeated what they are over, such as `seeds` */
export const intervalText = (count: number, repeated: string): string =>
  count > 1
    ? `In brackets: 95 % confidence over ${count} ${repeated}.`
    : `No confidence interval: it takes several ${repeated}.`;

export function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null && !Number.isNaN(value)) as number[];
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}
