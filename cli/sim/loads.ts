import { PAIRS_LAST } from '../../lab/index.js';
import type { Searched } from './axes.js';
import { compare, comparisonsOf } from './comparison.js';
import { RUNS_MAX, VALUES_MAX } from './lists.js';
import { loadOf, programsToTell } from './overload.js';
import { choicesOf, type Plan, settingOf, valuesOf } from './plan.js';
import type { SimVerdict } from './verdicts.js';
import type { RunReport } from './worker.js';

/** Programs of an advised run at most: more take long, and what is overloaded shows it earlier. */
export const PROGRAMS_MAX = 2000;
/** Programs for each one at a time from which on the beginning and the end of a run hardly count. */
export const STEADY = 25;
/** Seeds that may tell a large difference. */
const SEEDS_FIRST = 4;
const LONGER = 4;
/** More programs, up to so many, where more seeds would hardly tell. */
export const longerOf = ({ programs }: Plan, most = PROGRAMS_MAX) =>
  2 * programs <= most ? Math.min(most, LONGER * programs) : undefined;
/** Share of these that is as good. */
const NEARLY = 0.9;
/** A ratio of times below which more programs would not turn it. */
const SMALL = 0.8;

/** The loads of a plan, rising, if nothing else around its settings varies. */
export function loadsOf(plan: Plan) {
  const axis = plan.variants[0]?.arrivals.type === 'closed' ? 'concurrency' : 'rate';
  return { axis, values: valuesOf(plan, axis) } as const;
}

/** The end of a sentence that names the option that looks for other values; a search does not lead to another. */
export const auto = ({ searched }: Plan, axis: Searched, found: string, programs?: number): string =>
  searched === undefined
    ? `run again with --${axis} auto${programs === undefined ? '' : ` --programs ${programs}`}, which looks for ${found}.`
    : 'the search ended, as it tries no more values.';

/** The end of a sentence that names more seeds or programs, and how much longer they take. */
export function again(plan: Plan, programs = plan.programs, seeds = plan.seeds.length): string {
  const from = Math.max(1, plan.seeds[0] ?? 1);
  const flags = [
    ...(seeds > plan.seeds.length ? [`--seed ${from}..${from + seeds - 1}`] : []),
    ...(programs > plan.programs ? [`--programs ${programs}`] : []),
  ];
  const times = Math.round((seeds * programs) / (plan.seeds.length * plan.programs));
  return `run again with ${flags.join(' ')}${times > 1 ? `, about ${times} times as long` : ''}.`;
}

/** The end of a sentence after a search over numbers at a time that found no gain, as far as its programs allow. */
export const more = (plan: Plan): string => `more at a time need more programs: ${again(plan, programsAbove(plan))}`;

/** Programs with which a search tries more at a time than the most of these, if loads are such numbers. */
export const programsAbove = ({ lists: { concurrency }, programs }: Plan) =>
  concurrency && Math.max(programs, MORE * Math.max(...concurrency));
const MORE = 50;

/** The question that these runs leave open, and the option that answers it, as a sentence: at most one. */
export function nextOf(plan: Plan, runs: readonly RunReport[], verdicts: readonly SimVerdict[]): string | undefined {
  const { axis, values: loads } = loadsOf(plan);
  const [name, isSeveral] = [settingOf(plan, 0), loads.length > 1];
  const states = plan.variants.map((_, at) => loadOf(plan, runs, at));
  // A load that overloads most seeds is not sustained, whatever the others would tell.
  const short = states.findIndex(({ state, isHeld }) => state === 'unknown' && isHeld);
  if (short >= 0 && loads.length > 0) {
    const programs = programsToTell(plan, runs, short);
    const remedy = programs === undefined ? auto(plan, axis, 'loads of which so few tell') : again(plan, programs);
    return `Too few programs to tell whether ${isSeveral ? 'all of these loads are' : 'this load is'} sustained: ${remedy}`;
  }
  const from = verdicts.findIndex(({ better }) => better.length > 0);
  if (
    plan.searched === undefined &&
    loads.length > 0 &&
    states[0]?.isHeld === false &&
    !verdicts.some(({ isHeld, isOpen }) => isHeld && isOpen)
  )
    return `${name} ${isSeveral ? 'sustains none of these loads' : 'does not sustain this load'}: ${auto(plan, axis, 'those that it does')}`;
  if (from === 0 && isSeveral && (axis === 'rate' || loads[0] !== 1))
    return `It may pay below ${loads[0]}, too: ${auto(plan, axis, 'the least that does')}`;
  if (plan.searched === 'concurrency' && from < 0 && verdicts.every((each) => !each.isOpen))
    return `Up to ${loads.at(-1)} at a time, nothing is better; ${more(plan)}`;
  const open = from >= 0 && isSeveral ? verdicts.slice(Math.max(0, from - 1), from) : verdicts;
  const where = verdicts.some((each) => !each.isHeld) ? ' at loads that can be sustained' : '';
  const whether = `to tell whether ${from < 0 ? `anything is better than ${name}${where}` : isSeveral ? 'it pays below' : 'it is better elsewhere, too'}`;
  const steady = steadyOf(plan, runs);
  // Of programs a number at a time, few seeds tell a large difference.
  const isFirst = steady?.isLarge === true && plan.seeds.length === 1;
  const enough = Math.max(0, ...open.map((each) => each.enough ?? 0));
  // Near the most that a setting sustains, longer runs differ less, so that they need fewer seeds.
  const longer = axis === 'rate' ? longerOf(plan) : undefined;
  const isUneven = longer !== undefined && enough > PAIRS_LAST;
  const wanted = enough === 0 ? 0 : isFirst ? SEEDS_FIRST : isUneven ? PAIRS_LAST : Math.max(PAIRS_LAST, enough);
  const variants = plan.searched === undefined ? plan.variants.length : VALUES_MAX * choicesOf(plan);
  const count = Math.min(wanted, Math.floor(RUNS_MAX / variants));
  const programs = isUneven ? longer : steady?.programs;
  if (!plan.isExact && count > plan.seeds.length)
    return `Too few seeds${programs === undefined ? '' : ' and programs'} ${whether}: ${again(plan, programs, count)}`;
  if (open.some((each) => each.isOpen) && !plan.isExact && longer !== undefined)
    return `Too few programs ${whether}: ${again(plan, longer)}`;
  if (steady === undefined || (steady.isLarge && from < 0)) return undefined;
  return `Few programs, most of which run while the engines fill or empty, cannot tell ${steady.isLarge ? 'who pays' : 'small differences'}: ${again(plan, steady.programs)}`;
}

/**
 * Programs of a longer run of a number at a time: those at the beginning or the end decide small differences, and the
 * slowest; and whether the difference is large.
 */
export function steadyOf(plan: Plan, runs: readonly RunReport[]) {
  const enough = Math.min(PROGRAMS_MAX, STEADY * Math.max(0, ...(plan.lists.concurrency ?? [])));
  if (NEARLY * enough <= plan.programs || choicesOf(plan) < 2) return undefined;
  const ratios = comparisonsOf(plan).map((pair) => compare(plan, runs, pair).ratios.program_seconds.mean);
  return {
    programs: enough,
    isLarge: ratios.some(({ ratio }) => ratio !== null && (ratio < SMALL || ratio > 1 / SMALL)),
  };
}
