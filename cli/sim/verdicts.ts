import { type PlaceVerdict, placeVerdict } from '../../lab/index.js';
import { placeOf } from './axes.js';
import { compare } from './comparison.js';
import { isLost, loadOf } from './overload.js';
import { choicesOf, circumstancesOf, groupsOf, isPossible, type Plan, settingOf } from './plan.js';
import type { RunReport } from './worker.js';

export interface SimVerdict extends PlaceVerdict {
  /** Places among the variants: the first, and those compared with it. */
  readonly variants: readonly number[];
  /** Whether some setting sustains the load, and meets the objectives. */
  readonly isHeld: boolean;
  /** Whether some setting gains, though nobody knows whether it sustains the load. */
  readonly isShort: boolean;
  /** Settings that are faster, but miss the objectives. */
  readonly missed: readonly string[];
}

/** No gateway has such a setting, however fast. */
const FORESEEN = ', with the future known';

/** The verdict of each of the circumstances, by itself: a mean over all would hide a certain gain at one of them. */
export const verdictsOf = (plan: Plan, runs: readonly RunReport[]): SimVerdict[] =>
  choicesOf(plan) < 2 ? [] : groupsOf(plan).map((group) => verdictAmong(plan, runs, group));

/** The verdict on some variants against the first of them. */
export function verdictAmong(plan: Plan, runs: readonly RunReport[], variants: readonly number[]): SimVerdict {
  const [first = 0] = variants;
  const place = placeOf(plan.variants[first]?.values ?? {}, circumstancesOf(plan.lists));
  const loads = variants.map((variant) => loadOf(plan, runs, variant));
  const tried = variants.map((other, choice) => {
    const { change } = compare(plan, runs, { first, other });
    return {
      name: settingOf(plan, other),
      times: change,
      // Their factors grow with the number of programs: no gain or loss to choose by.
      isOut: loads[0]?.isHeld === false && loads[choice]?.isHeld === false,
      isLost: isLost(runs, other),
      isForeign: !isPossible(plan.variants[other]),
      isSteadier: change.of !== undefined && Number(loads[choice]?.overloaded.size) < Number(loads[0]?.overloaded.size),
      // Where nobody knows whether the first sustains the load, to overload is no loss against it.
      isOverloaded:
        loads[choice]?.isHeld !== true && (choice === 0 || (change.of === undefined && loads[0]?.state !== 'unknown')),
      failed: runs.reduce((sum, run) => sum + (run.variant === other ? run.failed : 0), 0),
    };
  });
  const verdict = placeVerdict(place, tried, { ...plan, repeated: 'seeds', repetitions: plan.seeds.length });
  const isHeld = loads.some((load) => (plan.slos.length > 0 ? load.isMet : load.isHeld));
  const missing = verdict.better.filter((choice) => plan.slos.length > 0 && loads[choice]?.isMet !== true);
  const best = verdict.better.find((choice) => !missing.includes(choice));
  // The gain of a burst need not hold for a load.
  const isShort = best !== undefined && loads[best]?.state === 'unknown';
  const isKept = (choice: number) => !isShort && !missing.includes(choice);
  const noted = (choice: number) =>
    isShort && verdict.better.includes(choice)
      ? ', if it lasts'
      : missing.includes(choice)
        ? ', misses the objective'
        : '';
  return {
    ...verdict,
    variants,
    isHeld: isHeld && !isShort,
    isShort,
    missed: missing.map((choice) => settingOf(plan, variants[choice] ?? 0)),
    better: verdict.better.filter(isKept),
    rows: verdict.rows.map((row) => ({
      ...row,
      outcome: row.outcome + (tried[row.at]?.isForeign && !row.isOut ? FORESEEN : noted(row.at)),
    })),
  };
}
