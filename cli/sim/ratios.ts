import { gridLines, marksText, versusGrid } from '../../lab/index.js';
import { SEARCHED } from './axes.js';
import { orderComparisonsOf } from './comparison.js';
import { axesOf, choicesOf, groupsOf, isSweep, labelsOf, nameOf, type Plan, settingOf, type Variant } from './plan.js';
import { verdictAmong } from './verdicts.js';
import type { RunReport } from './worker.js';

/** Each setting against the first in the same circumstances, and the meaning of the words: a table. */
export function ratioLines(plan: Plan, ended: readonly RunReport[], width: number): string[] {
  // That times grow with the load is no news.
  if (choicesOf(plan) < 2 && axesOf(plan.lists).some((axis) => SEARCHED.some((each) => each === axis))) return [];
  const runs = ended.filter(({ complete }) => complete);
  const found = groupsOf(plan).flatMap((group) => rowsOf(plan, runs, group));
  // The worth of the order alone.
  const orders = isSweep(plan) ? [] : orderComparisonsOf(plan).flatMap(({ first, other }) => rowsOf(plan, runs, [first, other], ' to fcfs-window')); // prettier-ignore
  const all = [...found, ...orders];
  const [corner = '', ...labels] = labelsOf(plan, all.map(({ variant }) => variant)); // prettier-ignore
  const rows = all.map((row, at) => ({ ...row, label: `${labels[at] ?? ''}${row.suffix}` }));
  const outcomes = rows.map(({ outcome }) => outcome);
  if (rows.length === 0) return [];
  return [
    `Times divided by those ${choicesOf(plan) > 1 ? `of ${settingOf(plan, 0)}` : nameOf(plan, plan.variants[0] as Variant)}: below 1 is faster.`, // prettier-ignore
    ...gridLines(versusGrid(corner, rows, plan.margin), width),
    ...marksText(outcomes, 'seeds'),
    ...(outcomes.some((each) => each.startsWith(CALM))
      ? [`Rows ${CALM}some seeds are of those that overload neither.`]
      : []),
  ];
}

const CALM = 'in ';

/** The rows of some variants against the first of them, each followed by one of the seeds that both sustain. */
const rowsOf = (plan: Plan, runs: readonly RunReport[], group: readonly number[], suffix = '') =>
  verdictAmong(plan, runs, group).rows.flatMap(({ at, ...row }) => {
    const own = { ...row, variant: group[at] ?? 0, suffix };
    const { calm } = row.times ?? {};
    return [own, ...(calm === undefined ? [] : [{ ...own, outcome: `${CALM}${calm.of}`, times: calm, price: [] }])];
  });
