/** Columns under one heading; '' for none. */
export interface ColumnGroup {
  readonly heading: string;
  readonly columns: readonly string[];
}

const GAP = 2;
const GROUP_GAP = 4;

/**
 * Lines of a table: labels to the left, all else to the right, groups further apart.
 *
 *                  program, s         TTFT, s
 *     policy     mean     p99      mean     p99
 *     fcfs        950   3,620      12.5      80
 */
export function textTable(
  corner: string,
  groups: readonly ColumnGroup[],
  rows: readonly (readonly string[])[],
): string[] {
  const labels = [corner, ...rows.map((row) => row[0] ?? '')];
  const labelWidth = Math.max(...labels.map((label) => label.length));
  let lines = labels.map((label) => label.padEnd(labelWidth));
  let headings = ' '.repeat(labelWidth);
  let from = 1;
  for (const { heading, columns } of groups) {
    const until = from + columns.length;
    const cells = [columns, ...rows.map((row) => row.slice(from, until))];
    const blocks = rightAligned(cells);
    const width = Math.max(heading.length, blocks[0]?.length ?? 0);
    lines = lines.map((line, index) => line + ' '.repeat(GROUP_GAP) + (blocks[index] ?? '').padStart(width));
    headings += ' '.repeat(GROUP_GAP) + heading.padStart(width);
    from = until;
  }
  return [headings, ...lines].map((line) => line.trimEnd()).filter((line) => line !== '');
}

/** Each row as one text, its cells below those of the others. */
function rightAligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join(' '.repeat(GAP)));
}
