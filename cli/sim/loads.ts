import { PAIRS_LAST, type PlaceVerdict, verdictOf } from '../../lab/index.js';
import { isChoice } from './axes.js';
import { compare, comparisonsOf } from './comparison.js';
import { integer } from '../../text/index.js';
import { RANGE_VALUES, RUNS_MAX } from './lists.js';
import { isHeld, isUnloaded, loadOf, overloadedSeeds, programsToTell } from './overload.js';
import { axesOf, choicesOf, isSweep, type Plan, settingOf } from './plan.js';
import type { RunReport } from './worker.js';

export interface SimVerdict extends PlaceVerdict {
  /** Whether some setting sustains the load. */
  readonly isHeld: boolean;
  /** A variant that gains, though nobody knows whether it sustains the load. */
  readonly short?: number;
}

/** The next command’s runs: from a load that the first setting sustains, or serves at once, to some that it does not. */
export interface Reach {
  readonly load: number;
  readonly programs: number;
  readonly seeds: readonly number[];
}

/** Times the lowest load of a range its highest. */
export const SPAN = 4;
/** Programs of an advised command at most, unless the present one has more: what is overloaded shows it earlier. */
export const PROGRAMS_MAX = 2000;
/** Times a load that is sustained the next one, which is not, from which on to look between. */
const GAP = 1.25;
/** Times a load without a gain the next one, which shows a large one: more than in an advised range. */
const ONSET_GAP = 1.6;
const LARGE = 1 / 1.5;
/** Times the programs, where seeds disagree. */
const LONGER = 4;
/** Programs for each one at a time from which on the beginning and the end of a run hardly count. */
export const STEADY = 25;
/** A ratio of times below which they would not turn it. */
const SMALL = 0.8;

/** The loads of a plan, rising, if nothing else around its settings varies. */
export function loadsOf(plan: Plan): { readonly axis: 'rate' | 'concurrency'; readonly values: readonly number[] } {
  const choices = choicesOf(plan);
  const axis = isClosed(plan) ? 'concurrency' : 'rate';
  const isOther = axesOf(plan.lists).some((each) => !isChoice(each) && each !== axis);
  const all = plan.variants.filter((_, at) => at % choices === 0).flatMap(({ arrivals }) => (arrivals.type === 'open' ? [arrivals.ratePerSecond] : arrivals.type === 'closed' ? [arrivals.concurrency] : [])); // prettier-ignore
  return { axis, values: isOther ? [] : all };
}

export function ratesOf(plan: Plan): readonly number[] {
  const { axis, values } = loadsOf(plan);
  return axis === 'rate' ? values : [];
}

/** Loads that would tell more than these, if any: the first setting sustains none of them, or nothing waits. */
export function otherLoads(plan: Plan, runs: readonly RunReport[], verdicts: readonly SimVerdict[]) {
  const [{ axis, values: loads }, choices] = [loadsOf(plan), choicesOf(plan)];
  const states = loads.map((_, at) => loadOf(plan, runs, at * choices).state);
  const isIdle = runs.every(isUnloaded);
  if (loads.length > 0 && !isHeld(plan, runs, 0)) return 'lower';
  const isFound = verdicts.some(({ better }) => better.length > 0);
  const isShort = loads.length === 1 || verdicts.some(({ short }) => short !== undefined);
  if (axis === 'rate' && isShort && !isFound && !isIdle && states[0] === 'unknown' && plan.programs < PROGRAMS_MAX)
    return 'longer';
  if (loads.length === 0 || isFound) return undefined;
  if (loads.length === 1 || axis === 'concurrency') return isIdle || isForNothing(plan, runs) ? 'higher' : undefined;
  if (states.includes('unknown') && plan.programs < PROGRAMS_MAX) return 'longer';
  const isOver = states.includes('overloaded') || states.includes('split');
  return isOver || (plan.seeds.length >= PAIRS_LAST && !isIdle) ? undefined : 'higher';
}

/** Whether some policy only made calls wait, in engines that had room for all. */
export function isForNothing(plan: Plan, runs: readonly RunReport[]): boolean {
  const isOver = plan.variants.some((_, at) => overloadedSeeds(plan, runs, at).size > 0);
  if (isOver || isSweep(plan) || runs.some(({ preemptions }) => preemptions > 0)) return false;
  const balancers = new Set(plan.variants.map(({ balancer }) => balancer));
  if (plan.variants[0]?.policy !== 'pass-through' || balancers.size > 1) return false;
  const changes = comparisonsOf(plan).map((pair) => compare(plan, runs, pair).ratios);
  const verdicts = changes.map(({ program_seconds: { mean }, ttft_seconds: { p50, p99 } }) => [verdictOf(p99, plan.margin), verdictOf(mean, plan.margin), verdictOf(p50, plan.margin)]); // prettier-ignore
  return verdicts.some(([tail]) => tail === 'later') && verdicts.every(([, ...others]) => !others.includes('sooner'));
}

/** The command that answers what these runs leave open, as a sentence: at most one, and what it finds is final. */
export function nextOf(
  plan: Plan,
  runs: readonly RunReport[],
  verdicts: readonly SimVerdict[],
  reach: Reach | undefined,
) {
  const isSeveral = loadsOf(plan).values.length > 1;
  const name = settingOf(plan, 0);
  switch (otherLoads(plan, runs, verdicts)) {
    case 'lower':
      return `${name} ${isSeveral ? 'sustains none of these loads' : 'does not sustain this load'}. To see what it sustains, ${again(plan, reach, 'lower')}`; // prettier-ignore
    case 'longer':
      if (reach !== undefined && reach.programs <= plan.programs && loadOf(plan, runs, 0).state !== 'unknown') break;
      return `Too few programs to tell whether ${isSeveral ? (loadOf(plan, runs, 0).state === 'unknown' ? 'these loads are' : 'the highest loads are') : 'this load is'} sustained: ${again(plan, reach, 'lower')}`;
    case 'higher':
      // Of a single load, the advice says why.
      return isSeveral ? `None of these loads is high enough to show a gain, as ${name} sustains them: ${again(plan, reach, 'raise')}` : undefined; // prettier-ignore
    case undefined:
  }
  const from = verdicts.findIndex(({ better }) => better.length > 0);
  const open = from < 0 ? verdicts : verdicts.slice(Math.max(0, from - 1), from);
  const wanted = Math.max(0, ...open.map(({ enough }) => Math.max(PAIRS_LAST, enough ?? 0) * Number(enough !== undefined))); // prettier-ignore
  const gap = from < 0 ? gapOf(plan, verdicts) : undefined;
  const between = gap && ranged(plan, gap, Math.max(wanted, PAIRS_LAST));
  if (between !== undefined)
    return `The most that can be sustained lies between ${gap?.join(' and ')} a second: to look for a gain there, ${between}.`;
  const seeds = seedsText(plan, wanted);
  if (seeds === '')
    return from < 0
      ? edgeOf(plan, runs, verdicts)
      : (lowestOf(plan, runs, verdicts, from) ?? shortOf(plan, runs, verdicts));
  const where = verdicts.some((each) => !each.isHeld) ? ' at loads that can be sustained' : '';
  return `Too few seeds to tell whether ${from < 0 ? `anything is better than ${name}${where}` : 'it pays below'}: run again with${seeds}.`; // prettier-ignore
}

/** Longer runs, where seeds disagree whether a load is sustained: the cost of an overload grows with the programs. */
function edgeOf(plan: Plan, runs: readonly RunReport[], verdicts: readonly SimVerdict[]): string | undefined {
  const choices = choicesOf(plan);
  const isEdge = (_: number, place: number) => verdicts[place]?.isHeld === true && Array.from({ length: choices }, (__, choice) => loadOf(plan, runs, place * choices + choice).state).includes('split'); // prettier-ignore
  const edge = ratesOf(plan).find(isEdge);
  const programs = Math.min(PROGRAMS_MAX, LONGER * plan.programs);
  return edge === undefined || programs <= plan.programs ? undefined : `At ${edge} a second, some seeds overload a setting, which longer runs show better: run again with --programs ${programs}.`; // prettier-ignore
}

/** More programs, where some gain at a load that nobody knows to be sustained. */
function shortOf(plan: Plan, runs: readonly RunReport[], verdicts: readonly SimVerdict[]): string | undefined {
  const place = verdicts.findIndex(({ short }) => short !== undefined);
  const { short = 0 } = verdicts[place] ?? {};
  const programs = place < 0 ? undefined : programsToTell(plan, runs, short);
  return programs === undefined ? undefined : `Too few programs to tell up to which load ${settingOf(plan, short)} pays: run again with --programs ${programs}.`; // prettier-ignore
}

/** A longer run of a number at a time, where differences are small: programs at the beginning or the end decide them. */
export function steadyOf(plan: Plan, runs: readonly RunReport[]): string | undefined {
  const { axis, values: [load = 0, ...others] } = loadsOf(plan); // prettier-ignore
  const enough = Math.min(PROGRAMS_MAX, STEADY * load);
  if (axis === 'rate' || others.length > 0 || load >= plan.programs || enough <= plan.programs) return undefined;
  const ratios = comparisonsOf(plan).map((pair) => compare(plan, runs, pair).ratios.program_seconds.mean);
  const isSame = ratios.every((ratio) => verdictOf(ratio, plan.margin) === 'same');
  const isLarge = ratios.some(({ ratio }) => ratio !== null && (ratio < SMALL || ratio > 1 / SMALL));
  return isSame || isLarge ? undefined : `Few programs, most of which run while the engines fill or empty, cannot tell small differences: run again with --programs ${enough}.`; // prettier-ignore
}

/** Where to look for the lowest load that pays, as a sentence. @param from place of the first that does */
function lowestOf(plan: Plan, runs: readonly RunReport[], verdicts: readonly SimVerdict[], from: number) {
  const { values: loads } = loadsOf(plan);
  const [lowest = 0] = loads;
  if (loads.length < 2) return undefined;
  const next = ranged(plan, from === 0 ? [below(plan, lowest), lowest] : loads.slice(from - 1, from + 1));
  if (from === 0) return next && `It may pay below, too: ${next}.`;
  const [low = 0, high = 0] = loads.slice(from - 1);
  const first = from * choicesOf(plan);
  const [best = 0] = verdicts[from]?.better ?? [];
  const { ratio } = compare(plan, runs, { first, other: first + best }).ratios.program_seconds.mean;
  const isFar = high > ONSET_GAP * low && ratio !== null && ratio < LARGE;
  return isFar ? next && `Gains begin between ${low} and ${high}: ${next}.` : undefined;
}

/** A further command where nothing is better at a load, as a sentence. */
export function furtherOf(plan: Plan, runs: readonly RunReport[], verdicts: readonly SimVerdict[]): string | undefined {
  const { axis, values: loads } = loadsOf(plan);
  const [load] = loads;
  if (plan.isExact || load === undefined || loads.length > 1 || !verdicts.every(({ better }) => better.length === 0))
    return undefined;
  const isWhole = axis === 'concurrency' && load >= plan.programs;
  const isOver = plan.variants.some((_, at) => overloadedSeeds(plan, runs, at).size > 0);
  if (isWhole || isOver || runs.every(isUnloaded) || isForNothing(plan, runs)) return undefined;
  const gate = isSweep(plan) ? 0 : (plan.variants[0]?.config.admission.gate ?? 0);
  if (gate > 0 && plan.lists.balancer.length === 1 && verdicts.some(({ losses }) => losses.length > 0))
    return `To learn whether the gate costs that, compare --gate ${gate},0.`;
  const next = verdicts.length === 0 ? undefined : ranged(plan, [load, above(plan, load)]);
  return next && `A higher load may show a gain: ${next}.`;
}

/** The option for more seeds, if runs leave room for more. */
function seedsText({ seeds, isExact, variants }: Plan, wanted: number): string {
  const count = Math.min(wanted, Math.floor(RUNS_MAX / variants.length));
  return isExact || count <= seeds.length ? '' : ` --seed 1..${count}`;
}

/** A command over a range of loads, with as many seeds as it has room for; undefined: there is none. */
function ranged(plan: Plan, ends: readonly number[], wanted = 0): string | undefined {
  const room = Math.floor(RUNS_MAX / (RANGE_VALUES * choicesOf(plan)));
  const count = Math.min(room, Math.max(wanted, plan.seeds.length));
  const seeds = count === plan.seeds.length ? '' : ` --seed 1..${count}`;
  return count < 1 ? undefined : `run again with --${loadsOf(plan).axis} ${ends.join('..')}${seeds}`; // prettier-ignore
}

/**
 * The highest load that some setting sustains and the next one, if all settings are overloaded there, it is far, and
 * none has lost by then.
 */
function gapOf(plan: Plan, verdicts: readonly SimVerdict[]): [number, number] | undefined {
  const rates = ratesOf(plan);
  const above = verdicts.findIndex(({ isHeld }) => !isHeld);
  const [low = 0, high = 0] = above < 1 ? [] : rates.slice(above - 1);
  return high > GAP * low && verdicts[above - 1]?.losses.length === 0 ? [low, high] : undefined;
}

const isClosed = ({ variants }: Plan): boolean => variants[0]?.arrivals.type === 'closed';
const below = (plan: Plan, load: number) => (isClosed(plan) ? Math.max(1, Math.round(load / SPAN)) : twoDigits(load / SPAN)); // prettier-ignore
const above = (plan: Plan, load: number): number => (isClosed(plan) ? SPAN * load : twoDigits(SPAN * load));

export const twoDigits = (rate: number): number => Number(rate.toPrecision(2));

/** The sentence's end that names the options of the next command. */
export function again(plan: Plan, reach: Reach | undefined, otherwise: 'lower' | 'raise'): string {
  const { axis } = loadsOf(plan);
  if (reach === undefined) return `${otherwise} --${axis}.`;
  const { load, programs, seeds } = reach;
  const more = programs === plan.programs ? '' : ` --programs ${programs}`;
  const size = `${integer(RANGE_VALUES * choicesOf(plan) * seeds.length)} runs of ${integer(programs)} programs`;
  return `run again with --${axis} ${load}..${above(plan, load)}${more}${seeds === plan.seeds ? '' : ` --seed 1..${seeds.length}`}: ${size}.`; // prettier-ignore
}
