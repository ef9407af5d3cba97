import { ratio as figure } from '../../text/index.js';
import { type Ratio, verdictOf } from '../measure/comparison.js';
import { type Grid, ratioText } from './grid.js';
import { tailName, type Times } from './headline.js';
import { GROWS, type PlaceRow } from './places.js';

/** A row with its label. */
type LabelledRow = Omit<PlaceRow, 'at'> & { readonly label: string };

/** Ratios of times to those of the first, with the intervals of those that differ by more than the margin. */
export function versusGrid(corner: string, rows: readonly LabelledRow[], margin: number): Grid {
  const cell = (value: Ratio) => (verdictOf(value, margin) === 'same' ? figure(value.ratio) : ratioText(value));
  const tailOf = (of: (times: Times) => number) => tailName(Math.min(...rows.flatMap(({ times }) => (times ? [of(times)] : [])))); // prettier-ignore
  const cellsOf = (times: Times | undefined) =>
    times === undefined
      ? ['-', '-', '-', '-']
      : [times.programs.mean, times.programs.p99, times.firstToken.p50, times.firstToken.p99].map(cell);
  const payerOf = ({ price }: LabelledRow) => price.flatMap(({ kind, factor }) => (kind === undefined ? [] : [`${kind} ${figure(factor)}`])); // prettier-ignore
  const isPaid = rows.some((row) => payerOf(row).length > 0);
  return {
    corner,
    groups: [
      { heading: '', columns: ['verdict'] },
      { heading: 'program', columns: ['mean', tailOf(({ counts }) => counts.programs)] },
      { heading: 'call to first token', columns: ['p50', tailOf(({ counts }) => counts.calls)] },
      ...(isPaid ? [{ heading: 'who pays most', columns: ['p99'] }] : []),
    ],
    rows: rows.map((row) => [row.label, row.outcome, ...cellsOf(row.times), ...(isPaid ? [payerOf(row).join()] : [])]),
  };
}

/** The meaning of marks in some outcomes. */
export const marksText = (outcomes: readonly string[], repeated: string): string[] =>
  outcomes.some((each) => each.includes(GROWS)) ? [`${GROWS} It grows with the number of programs, as one of both is overloaded, in some ${repeated} at least.`] : []; // prettier-ignore
