import { COLUMNS, type Column } from './columns.js';
import { span, type Line, type Style } from './line.js';
import { fitted, widthOf } from '../text.js';
import type { ProgramRow } from './wire.js';

const NAME_WIDTH_MIN = 12;
/** Beyond this a name takes no room from other columns. */
const NAME_WIDTH_WANTED = 23;
const MARKER = '>';

export interface Order {
  readonly sort: string;
  readonly descending: boolean;
}

/** The title and the page of rows that holds the selected one (none: the first), in `height` lines. */
export function tableLines(
  rows: readonly ProgramRow[],
  { sort, descending }: Order,
  selected: number | undefined,
  width: number,
  height: number,
): Line[] {
  const columns = columnsFor(rows, sort, width);
  const name = width - MARKER.length - columns.reduce((sum, column) => sum + column.width + 1, 0);
  const arrow = descending ? '▾' : '▴';
  const titles = columns.map((column) => {
    const isSorted = column.sort === sort;
    const title = isSorted ? `${arrow}${column.title}` : column.title;
    return span(` ${fitted(title, column.width, column.align ?? 'right')}`, isSorted ? 'bold' : 'inverse');
  });
  const page = Math.max(1, height - 1);
  const from = Math.floor((selected ?? 0) / page) * page;
  const lines = rows.slice(from, from + page).map((row, at): Line => {
    const isSelected = from + at === selected;
    const cells = columns.map((column) => span(` ${fitted(column.text(row), column.width, column.align ?? 'right')}`, styleOf(column, row))); // prettier-ignore
    const line = [span(`${isSelected ? MARKER : ' '}${fitted(row.id, name)}`), ...cells];
    return isSelected ? line.map(({ text }) => span(text, 'inverse')) : line;
  });
  return [[span(` ${fitted('PROGRAM', name)}`, 'inverse'), ...titles], ...lines];
}

/** The columns that fit, and always the one that the table is sorted by. */
function columnsFor(rows: readonly ProgramRow[], sort: string, width: number): readonly Column[] {
  const hasTenants = rows.some(({ tenant }) => tenant !== 'default');
  const sized = COLUMNS.flatMap((column) => {
    if (column.title === 'TENANT' && !hasTenants) return [];
    // The sort column's title has an arrow.
    const isWidened = column.sort === sort && column.width === column.title.length;
    return isWidened ? [{ ...column, width: column.width + 1 }] : [column];
  });
  const wanted = Math.max(NAME_WIDTH_MIN, ...rows.map(({ id }) => Math.min(NAME_WIDTH_WANTED, widthOf(id))));
  const ranked = sized.toSorted((a, b) => Number(b.sort === sort) - Number(a.sort === sort) || a.rank - b.rank);
  const taken = new Set<Column>();
  let left = width - MARKER.length;
  for (const column of ranked) {
    // The most telling columns may take from the name's width; the others may not.
    const name = column.rank <= 4 || column.sort === sort ? NAME_WIDTH_MIN : wanted;
    if (left - column.width - 1 < name) continue;
    left -= column.width + 1;
    taken.add(column);
  }
  return sized.filter((column) => taken.has(column));
}

const STYLES: Readonly<Record<string, Style>> = { running: 'good', 'run+wait': 'warning', waiting: 'warning', idle: 'dim' }; // prettier-ignore

const styleOf = ({ title, text }: Column, row: ProgramRow): Style | undefined =>
  title === 'STATE' ? STYLES[text(row)] : undefined;
