import {
  BOTH_OVERLOADED,
  type Cost,
  type Grid,
  gridLines,
  type KindTimes,
  type PlaceRow,
  type Ratio,
  ratioText,
  tailName,
  type Times,
  verdictOf,
} from '../../lab/index.js';
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
  const left =
    all.length === every.length
      ? []
      : [`Left out: ${counted(every.length - all.length, 'row')}, as both settings are overloaded.`];
  if (all.length === 0) return left;
  const [corner = '', ...labels] = labelsOf(
    plan,
    all.map(({ variant }) => variant),
  );
  const rows = all.map((row, at) => ({ ...row, label: labels[at] ?? '' }));
  const has = (mark: RegExp) => rows.some(({ outcome }) => mark.test(outcome));
  return [
    `Times divided by those ${choicesOf(plan) > 1 ? `of ${settingOf(plan, 0)}` : nameOf(plan, plan.variants[0] as Variant)}: below 1 is faster.`,
    ...gridLines(ratioGrid(corner, rows, plan.margin, isSweep(plan)), width),
    ...left,
    ...(has(/\*/)
      ? ['* It grows with the number of programs, as one of both is overloaded, in some seeds at least.']
      : []),
    ...(has(/seeds\)$/)
      ? ['Seeds in brackets: the row is of those alone, which overload neither; the times below are of all.']
      : []),
    ...(rows.some(({ price }) => kindOf(price)) ? ['A kind of program in brackets: the row is of that alone.'] : []),
  ];
}

/** The rows of some variants against the first of them, each followed by ones of the seeds that both sustain and of the kind of program that pays. */
const rowsOf = (plan: Plan, runs: readonly RunReport[], group: readonly number[]) =>
  verdictAmong(plan, runs, group).rows.flatMap(({ at, ...row }) => {
    const own = { ...row, variant: group[at] ?? 0 };
    const { times: { calm } = {}, told } = row;
    const kind = kindOf(row.price);
    return [
      own,
      ...(calm === undefined ? [] : [{ ...own, outcome: `(${calm.of})`, times: calm }]),
      ...(kind === undefined
        ? []
        : [
            {
              ...own,
              outcome: `(${[kind, told.of].filter(Boolean).join(', ')})`,
              times: { ...told, ...told.kinds?.[kind] },
            },
          ]),
    ];
  });

const kindOf = (price: readonly Cost[]): string | undefined => price.find(({ kind }) => kind !== undefined)?.kind;

interface Labelled extends Pick<PlaceRow, 'outcome'> {
  readonly label: string;
  readonly times?: (KindTimes & Pick<Times, 'counts'>) | undefined;
}

/** Ratios, with the intervals of those that differ by more than the margin; in a sweep, those that gains and prices are mostly of. */
function ratioGrid(corner: string, rows: readonly Labelled[], margin: number, isMany: boolean): Grid {
  const cell = (value?: Ratio) =>
    value === undefined ? '-' : verdictOf(value, margin) === 'same' ? ratio(value.ratio) : ratioText(value);
  const tailOf = (name: keyof Times['counts']) =>
    tailName(Math.min(...rows.flatMap(({ times }) => times?.counts[name] ?? [])));
  const cellsOf = ({ programs, firstToken }: Partial<KindTimes> = {}) =>
    [programs?.mean, programs?.p99, ...(isMany ? [] : [firstToken?.p50]), firstToken?.p99].map(cell);
  return {
    corner,
    groups: [
      { heading: '', columns: ['verdict'] },
      { heading: 'program', columns: ['mean', tailOf('programs')] },
      { heading: 'call to first token', columns: [...(isMany ? [] : ['p50']), tailOf('calls')] },
    ],
    rows: rows.map((row) => [row.label, row.outcome, ...cellsOf(row.times)]),
  };
}
