/** Columns under one heading; '' for none. */
export interface ColumnGroup {
  readonly heading: string;
  readonly columns: readonly string[];
}

/** Width without a terminal. */
const WIDTH = 120;
const GAP = 2;
const GROUP_GAP = 4;

/** Width of a table in characters: the terminal's, if there is one. */
export const tableWidth = ({ columns }: { readonly columns?: number }): number => columns || WIDTH;

/**
 * Lines of a table: labels aligned left, all else right, with wider gaps between groups. Column groups that do not fit
 * continue below, with the labels repeated. A group too wide by itself is split.
 *
 *                  program, s         TTFT, s
 *     policy     mean     p99      mean     p99
 *     plas        950   3,620      12.5      80
 */
export function textTable(
  corner: string,
  groups: readonly ColumnGroup[],
  rows: readonly (readonly string[])[],
  width = WIDTH,
): string[] {
  const labels = leftAligned(['', corner, ...rows.map((row) => row[0] ?? '')]);
  const parts: string[][] = [];
  let lines: string[] = [];
  let from = 1;
  for (const { heading, columns } of groups) {
    const until = from + columns.length;
    const cells = [columns, ...rows.map((row) => row.slice(from, until))];
    for (const block of blocksOf(heading, cells, width - GROUP_GAP - widthOf(labels))) {
      if (lines.length === 0 || widthOf(lines) + GROUP_GAP + widthOf(block) > width) parts.push((lines = [...labels]));
      block.forEach((text, index) => (lines[index] = `${lines[index] ?? ''}${' '.repeat(GROUP_GAP)}${text}`));
    }
    from = until;
  }
  return parts.flatMap((part, index) => [
    ...(index === 0 ? [] : ['']),
    ...part.map((line) => line.trimEnd()).filter((line) => line !== ''),
  ]);
}

/** The columns of a group, halved for as long as they are too wide. */
function blocksOf(heading: string, cells: readonly (readonly string[])[], room: number): string[][] {
  const block = rightAligned([heading, ...rightAligned(cells)].map((line) => [line]));
  const count = cells[0]?.length ?? 0;
  if (count < 2 || widthOf(block) <= room) return [block];
  const half = Math.ceil(count / 2);
  const halves = [cells.map((row) => row.slice(0, half)), cells.map((row) => row.slice(half))];
  return halves.flatMap((part) => blocksOf(heading, part, room));
}

const widthOf = (lines: readonly string[]): number => Math.max(...lines.map((line) => line.length));

/** Texts of equal length, for a column. */
export function leftAligned(texts: readonly string[]): string[] {
  const width = widthOf(texts);
  return texts.map((text) => text.padEnd(width));
}

/** Each row as one line of text, its cells aligned with those of the other rows. */
function rightAligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => widthOf(rows.map((row) => row[column] ?? '')));
  return rows.map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join(' '.repeat(GAP)));
}
