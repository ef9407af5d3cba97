import { hasFewWaits, isRising, meanOf, pairsToTell, type PlaceVerdict } from '../../lab/index.js';
import { isOverload, moreToTell } from '../../loadtest/report/index.js';
import type { Arrivals } from '../../workloads/index.js';
import { isChoice, valuesText } from './axes.js';
import { comparisonsOf, ratiosOf } from './comparison.js';
import { axesOf, choicesOf, type Plan, RUNS_MAX } from './plan.js';
import type { RunReport } from './worker.js';

/** Enough for most differences that matter. */
const SEEDS = 8;
/** Share of calls that may wait in an engine, and be few. */
const ENGINE_WAITS = 0.05;
/** How far beyond the rates that were tried the next ones reach, and how many a range has. */
const BEYOND = 3;
const RANGE = 5;
/** An engine serves so many times what a whole run does, whose last programs are alone. */
const SERVED_SHORT = 1.5;
/** A rate that so few programs cannot tell about is far beyond what an engine serves. */
const PROGRAMS_MAX = 2000;
/** Room for chance: other programs take longer, or arrive sooner. */
const AMPLE = 1.25;

/** Share of the seeds that must agree. Where fewer do, the load is about the most that a setting sustains. */
const AGREEING = 0.75;

/** How many seeds find a variant overloaded, by the rule of load tests, and how many do not. */
export function loadOf({ variants }: Plan, runs: readonly RunReport[], variant: number) {
  const arrivals = variants[variant]?.arrivals;
  const signs = runs.filter((run) => run.variant === variant).map((run) => signOf(run, arrivals));
  const count = (sign: boolean | null) => signs.filter((each) => each === sign).length;
  const [overloaded, sustained, seeds] = [count(true), count(false), signs.length];
  const agree = (some: number) => some > 0 && some >= AGREEING * seeds;
  const few = sustained + overloaded < seeds ? 'unknown' : 'split';
  return { overloaded, sustained, seeds, state: agree(overloaded) ? 'overloaded' : agree(sustained) ? 'sustained' : few } as const; // prettier-ignore
}

function signOf(run: RunReport, arrivals: Arrivals | undefined): boolean | null {
  if (arrivals?.type === 'closed') return false;
  const { queue_grew: grew, queue_seconds: queue, program_seconds: program, slowdown, programs } = run;
  const queueing = { ...program, mean: ((queue.mean ?? 0) * queue.count) / program.count };
  const alone = aloneOf(run);
  // However few programs there are: what is much slower than alone is no chance.
  const signs = { arrivals_seconds: null, alone_seconds: null, program_seconds: program, program_queue_seconds: queueing, slowdown }; // prettier-ignore
  if (grew === null || isOverload(grew, signs) === true) return grew;
  const lasted = arrivals?.type === 'open' ? programs / arrivals.ratePerSecond : null;
  return moreToTell({ arrivals_seconds: lasted, alone_seconds: alone }) === undefined ? false : null;
}

/** Whether at most 1 in 20 calls waited at the gateway, and as few in its engine: nothing that scheduling could change. */
export const isUnloaded = (run: RunReport): boolean =>
  hasFewWaits(run.queue_seconds) && run.engine_waits <= ENGINE_WAITS * run.calls && run.completed === run.programs;

const aloneOf = ({ program_seconds: { mean }, slowdown }: RunReport): number | null =>
  mean === null || !slowdown.mean ? null : mean / slowdown.mean;

/** The rates of a plan, if they rise and nothing else around its settings varies. */
export function ratesOf(plan: Plan): readonly number[] {
  const choices = choicesOf(plan);
  const around = axesOf(plan.lists).filter((axis) => !isChoice(axis));
  const rates = plan.variants.filter((_, at) => at % choices === 0).flatMap(({ arrivals }) => (arrivals.type === 'open' ? [arrivals.ratePerSecond] : [])); // prettier-ignore
  return around.every((axis) => axis === 'rate') && (rates.length === 1 || isRising(rates)) ? rates : [];
}

/** Up to which rate each setting keeps up; none where the rates are not several. */
export function sustainedOf(plan: Plan, runs: readonly RunReport[]): string[] {
  const [rates, choices] = [ratesOf(plan), choicesOf(plan)];
  if (rates.length < 2) return [];
  const named = new Map<string, string[]>();
  for (let choice = 0; choice < choices; choice += 1) {
    const loads = rates.map((_, at) => loadOf(plan, runs, at * choices + choice));
    const from = loads.findIndex(({ sustained, seeds }) => sustained < seeds);
    const isUnknown = loads[from]?.state === 'unknown';
    const parts = loads.flatMap(({ sustained }, at) => at >= from && sustained > 0 && !isUnknown ? [`${rates[at]} in ${sustained}`] : []); // prettier-ignore
    const some = parts.length === 0 ? [] : [`${parts.join(', ')} of ${plan.seeds.length} seeds`];
    const none = isUnknown ? 'unknown, with so few programs' : 'none of these loads';
    const upTo = `${isUnknown ? 'at least ' : ''}up to ${rates[from - 1]} a second`;
    const sure = from > 0 ? [upTo] : some.length > 0 ? [] : [none];
    const text = from === -1 ? 'all of these loads' : [...sure, ...some].join(', ');
    named.set(text, [...(named.get(text) ?? []), settingOf(plan, choice)]);
  }
  const texts = [...named].map(([text, names]) => (named.size === 1 ? text : `${names.join(' and ')} ${text}`));
  return [`Sustained: ${texts.join('; ')}.`];
}

export const settingOf = (plan: Plan, variant: number): string =>
  valuesText(plan.variants[variant]?.values ?? {}, axesOf(plan.lists).filter(isChoice)) ||
  (plan.variants[variant]?.policy ?? '');

/** The command that answers what these runs leave open, as a sentence. */
export function nextOf(plan: Plan, runs: readonly RunReport[], verdicts: readonly PlaceVerdict[]): string | undefined {
  const [rates, choices] = [ratesOf(plan), choicesOf(plan)];
  const [least = 0, most = 0] = [rates[0], rates.at(-1)];
  const states = rates.map((_, at) => loadOf(plan, runs, at * choices).state);
  const name = settingOf(plan, 0);
  if (states[0] === 'overloaded') {
    const ended = runs.filter(({ variant }) => variant < choices).map((run) => run.programs_per_second ?? 0);
    const top = Math.min(least, SERVED_SHORT * Math.max(...ended) || Infinity);
    return `${name} ${rates.length > 1 ? 'sustains none of these loads' : 'does not sustain this load'}. To see what it sustains, ${again(plan, runs, [top / BEYOND, top])}`; // prettier-ignore
  }
  // More load tells more than more seeds.
  if (rates.length < 2 && runs.every(isUnloaded)) return undefined;
  const enough = comparisonsOf(plan).map((pair) => pairsToTell(ratiosOf(runs, pair).program_seconds.mean, plan.margin) ?? 0); // prettier-ignore
  const seeds = plan.seeds.length < SEEDS ? seedsText(plan, Math.max(RANGE * choices, plan.variants.length), Math.max(SEEDS, ...enough)) : ''; // prettier-ignore
  const from = verdicts.findIndex(({ better }) => better.length > 0);
  if (from >= 0) {
    const below = enough.slice(Math.max(0, from - 1) * (choices - 1), from * (choices - 1));
    const isOpen = rates.length > 1 && verdicts[from - 1]?.isUnsure === true && below.some((count) => count > 0) && seeds !== ''; // prettier-ignore
    return isOpen ? `Too few seeds to tell whether it pays below: run again with --rate ${rates[Math.max(0, from - 2)]}..${rates[from]}${seeds}.` : undefined; // prettier-ignore
  }
  if (rates.length > 1 && !states.includes('overloaded') && !states.includes('split'))
    return states.includes('unknown')
      ? `Too few programs to tell whether the highest loads are sustained: ${again(plan, runs, [rates[states.indexOf('unknown') - 1] ?? least, most], 2 * plan.programs)}` // prettier-ignore
      : `None of these loads is high enough to tell, as ${name} sustains them: ${again(plan, runs, [rates.at(-2) ?? most, BEYOND * most])}`; // prettier-ignore
  const isOpen = verdicts.some(({ isUnsure }) => isUnsure) && seeds !== '';
  return isOpen ? `Too few seeds to tell whether anything is better than ${name}: run again with${seeds}.` : undefined;
}

/** The sentence's end that names the options of the next command. @param programsMin 0: as many as now may do */
export function again(
  plan: Plan,
  runs: readonly RunReport[],
  [least, most]: readonly [number, number],
  programsMin = 0,
): string {
  const alone = meanOf(runs.filter(({ variant }) => variant === 0).map(aloneOf));
  const needed = (rate: number) => plan.programs * AMPLE * (moreToTell({ arrivals_seconds: plan.programs / rate, alone_seconds: alone }) ?? 0); // prettier-ignore
  const served = Math.max(...runs.map((run) => run.programs_per_second ?? 0)) || Infinity;
  const to = needed(most) > PROGRAMS_MAX ? Math.min(most, BEYOND * SERVED_SHORT * served) : most;
  const range = [(least * to) / most, to].map((rate) => Number(rate.toPrecision(2))).join('..');
  const more = Math.max(needed(to), programsMin);
  const programs = more === 0 ? '' : ` --programs ${10 * Math.ceil(more / 10)}`;
  return `run again with --rate ${range}${programs}${seedsText(plan, RANGE * choicesOf(plan), SEEDS)}.`;
}

/** The option for more seeds, if the runs of so many variants leave room for more. */
function seedsText({ seeds, isExact }: Plan, variants: number, wanted: number): string {
  const count = Math.min(wanted, Math.floor(RUNS_MAX / variants));
  return isExact || count <= seeds.length ? '' : ` --seed ${Array.from({ length: count }, (_, at) => at + 1).join()}`;
}
