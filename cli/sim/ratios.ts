import { BOTH_OVERLOADED, type Grid, gridLines, type PlaceRow, type Ratio, ratioText, tailName, type Times, verdictOf } from '../../lab/index.js'; // prettier-ignore
import { counted, ratio } from '../../text/index.js';
import { choicesOf, groupsOf, isSweep, labelsOf, nameOf, type Plan, settingOf, type Variant } from './plan.js';
import { verdictAmong } from './verdicts.js';
import type { RunReport } from './worker.js';

/** Each setting against the first in the same circumstances, and the meaning of the words: a table. */
export function ratioLines(plan: Plan, ended: readonly RunReport[], width: number): string[] {
  const runs = ended.filter(({ complete }) => complete);
  const every = groupsOf(plan).flatMap((group) => rowsOf(plan, runs, group));
  if (every.length === 0) return [];
  const all = every.filter(({ outcome }) => outcome !== BOTH_OVERLOADED);
  const left = all.length === every.length ? [] : [`Left out: ${counted(every.length - all.length, 'row')}, as both settings are overloaded.`]; // prettier-ignore
  if (all.length === 0) return left;
  const [corner = '', ...labels] = labelsOf(plan, all.map(({ variant }) => variant)); // prettier-ignore
  const rows = all.map((row, at) => ({ ...row, label: labels[at] ?? '' }));
  const has = (mark: RegExp) => rows.some(({ outcome }) => mark.test(outcome));
  return [
    `Times divided by those ${choicesOf(plan) > 1 ? `of ${settingOf(plan, 0)}` : nameOf(plan, plan.variants[0] as Variant)}: below 1 is faster.`, // prettier-ignore
    ...gridLines(ratioGrid(corner, rows, plan.margin, isSweep(plan)), width),
    ...left,
    ...(has(/\*/)
      ? ['* It grows with the number of programs, as one of both is overloaded, in some seeds at least.']
      : []),
    ...(has(/seeds\)$/)
      ? ['Seeds in brackets: the row is of those alone, which overload neither; the times below are of all.']
      : []),
  ];
}

/** The rows of some variants against the first of them, each followed by one of the seeds that both sustain. */
const rowsOf = (plan: Plan, runs: readonly RunReport[], group: readonly number[]) =>
  verdictAmong(plan, runs, group).rows.flatMap(({ at, ...row }) => {
    const own = { ...row, variant: group[at] ?? 0 };
    const { calm } = row.times ?? {};
    return [own, ...(calm === undefined ? [] : [{ ...own, outcome: `(${calm.of})`, times: calm }])];
  });

type Labelled = Omit<PlaceRow, 'at'> & { readonly label: string };

/** Ratios, with the intervals of those that differ by more than the margin; in a sweep, those that gains and prices are mostly of. */
function ratioGrid(corner: string, rows: readonly Labelled[], margin: number, isMany: boolean): Grid {
  const cell = (value: Ratio) => (verdictOf(value, margin) === 'same' ? ratio(value.ratio) : ratioText(value));
  const tailOf = (of: (times: Times) => number) => tailName(Math.min(...rows.flatMap(({ times }) => (times ? [of(times)] : [])))); // prettier-ignore
  const cellsOf = (times: Times | undefined) =>
    times === undefined
      ? Array<string>(isMany ? 3 : 4).fill('-')
      : [times.programs.mean, times.programs.p99, ...(isMany ? [] : [times.firstToken.p50]), times.firstToken.p99].map(cell); // prettier-ignore
  return {
    corner,
    groups: [
      { heading: '', columns: ['verdict'] },
      { heading: 'program', columns: ['mean', tailOf(({ counts }) => counts.programs)] },
      { heading: 'call to first token', columns: [...(isMany ? [] : ['p50']), tailOf(({ counts }) => counts.calls)] },
    ],
    rows: rows.map((row) => [row.label, row.outcome, ...cellsOf(row.times)]),
  };
}
