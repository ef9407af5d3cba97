import { breakEvenOf, namesOf, type Times, verdictOf } from '../../lab/index.js';
import { isChoice, SEARCHED, type Values } from './axes.js';
import { compare, comparisonsOf, sentenceOf } from './comparison.js';
import { auto, loadsOf, nextOf, programsAbove, steadyOf } from './loads.js';
import { isLost, loadOf } from './overload.js';
import { axesOf, choicesOf, isAlone, isPossible, type Plan, settingOf } from './plan.js';
import { isDefault } from './scheduling.js';
import { enginesNext, enginesOf, isIdle, isTelling, objectivesOf, sustainedOf } from './sustained.js';
import { type SimVerdict, verdictsOf } from './verdicts.js';
import type { RunReport } from './worker.js';

export interface Recommendation {
  /** The answer, its price, and what is left open: lines. */
  readonly sentence: string;
  readonly values: Values;
  /** Place among the variants of each of the circumstances; 0 is the first setting: nothing better was found. */
  readonly choice: number;
}

type Lines = readonly (string | undefined)[];

/**
 * The setting under which programs are fastest, if any is certainly better than the first. Undefined where nothing differs, where runs are
 * missing, and where the first knows the future.
 * @param isStopped whether a search was, and no question that it has left open is told
 */
export function recommend(plan: Plan, all: readonly RunReport[], isStopped = false): Recommendation | undefined {
  const runs = all.filter(({ complete }) => complete);
  const settings = choicesOf(plan);
  const isWhole = runs.length === plan.variants.length * plan.seeds.length;
  if (!isWhole || !isPossible(plan.variants[0]) || plan.variants.every((_, at) => isLost(runs, at))) return undefined;
  const verdicts = settings > 1 ? verdictsOf(plan, runs) : [];
  const sustained = sustainedOf(plan, runs);
  const next = isStopped ? undefined : (enginesNext(plan, runs) ?? nextOf(plan, runs, verdicts));
  const told = (choice: number, answer: Lines, rest: Lines = []) => {
    const declared = ownOf(plan, choice).foresight === 'declared' ? ['Clients must declare their work.'] : [];
    const lines = [...answer, ...sustained, ...rest, ...declared].filter((line) => line !== undefined);
    return lines.length === 0 ? undefined : { sentence: lines.join('\n'), values: ownOf(plan, choice), choice };
  };
  const outcomes = settings < 2 ? comparisonsOf(plan).map((pair) => sentenceOf(plan, runs, pair)) : [];
  if (loadsOf(plan).values.length < 2 && isIdle(plan, runs)) return told(0, plan.slos.length === 0 ? outcomes : [next]);
  if (isTelling(plan, runs) && isAllSame(plan, runs)) return told(0, [], [ALL_SAME, higherOf(plan, runs, verdicts)]);
  if (settings < 2) return told(0, outcomes, [next]);
  const { choice, sentence } = choiceOf(plan, runs, verdicts);
  // Where engines are counted, that is the question.
  const tell = (taken: number, lines: Lines) =>
    enginesOf(plan).length > 1 ? told(taken, [], lines) : told(taken, lines);
  const isOnePlace = plan.variants.length === settings;
  // Seeds or programs are wanted where no answer is certain.
  const isOpen =
    choice === 0
      ? plan.searched === undefined || verdicts.some((each) => each.isOpen)
      : isOnePlace && steadyOf(plan, runs)?.isLarge === false;
  if (isOpen && next !== undefined) return tell(0, [next]);
  const own = isOnePlace ? textOf(plan, runs, verdicts, choice) : undefined;
  return tell(choice, [own ?? sentence, next ?? higherOf(plan, runs, verdicts)]);
}

/** The setting to take in one place and who pays for it, or why none is taken. */
function textOf(plan: Plan, runs: readonly RunReport[], [verdict]: readonly SimVerdict[], choice: number) {
  const { missed = [], rows = [] } = verdict ?? {};
  const who = rows.find(({ at }) => at === choice)?.price.find(({ measure }) => measure === 'kind')?.text;
  if (choice > 0)
    return `Take ${sentenceOf(plan, runs, { first: 0, other: choice })}${who === undefined ? '' : ` ${who}.`}`;
  return missed.length === 0
    ? undefined
    : `Keep ${settingOf(plan, 0)}: ${namesOf(missed)} ${missed.length > 1 ? 'miss' : 'misses'} ${objectivesOf(plan)}.`;
}

/** The option that may show a gain, if no load of these does, and none overloads a setting in any seed: a sentence. */
function higherOf(plan: Plan, runs: readonly RunReport[], verdicts: readonly SimVerdict[]): string | undefined {
  const { axis, values } = loadsOf(plan);
  const isRecorded = plan.isExact && isAlone(plan, axis);
  const isOpen =
    plan.searched === undefined &&
    choicesOf(plan) > 1 &&
    (values.length > 0 || isRecorded) &&
    plan.variants.slice(1).some(isPossible);
  const isCalm = plan.variants.every((_, at) => loadOf(plan, runs, at).overloaded.size === 0);
  return isOpen && isCalm && verdicts.every((each) => each.isHeld && !each.isOpen && each.better.length === 0)
    ? `A higher load may show a gain: ${auto(plan, axis, 'one', programsAbove(plan))}`
    : undefined;
}

const ALL_SAME = 'All settings gave the same results: what differs never came into play.';

/** Whether all variants gave the same figures with each seed, at one load. */
function isAllSame({ variants, lists }: Plan, runs: readonly RunReport[]): boolean {
  const figures = variants.map((_, at) =>
    JSON.stringify(runs.flatMap((run) => (run.variant === at ? [run.program_seconds, run.ttft_seconds] : []))),
  );
  const isOneLoad = axesOf(lists).every((axis) => !SEARCHED.some((each) => each === axis));
  return variants.length > 1 && isOneLoad && new Set(figures).size === 1;
}

/** The settings that vary, of one of them. */
const ownOf = ({ lists, variants }: Plan, choice: number): Values =>
  Object.fromEntries(
    axesOf(lists)
      .filter(isChoice)
      .map((axis) => [axis, variants[choice]?.values[axis]]),
  );

function choiceOf(plan: Plan, runs: readonly RunReport[], verdicts: readonly SimVerdict[]) {
  const { length: loads } = loadsOf(plan).values;
  const name = (choice: number) => settingOf(plan, choice);
  const served = verdicts.filter((each) => each.isHeld);
  const isShort = verdicts.some((each) => each.isShort);
  if (served.length === 0)
    return {
      choice: 0,
      sentence: isShort
        ? 'Too few programs to tell what is sustained.'
        : plan.slos.length === 0
          ? 'No setting sustains any of these.'
          : undefined,
    };
  return breakEvenOf(served, name, loads > 1 ? loads : undefined, preferredOf(plan, runs, served), verdicts.length);
}

/** The gateway’s default, unless at half of these loads another is certainly faster, or as fast at a lower price: chance must not choose. */
function preferredOf(plan: Plan, runs: readonly RunReport[], verdicts: readonly SimVerdict[]): number | undefined {
  const choices = choicesOf(plan);
  const better = [...new Set(verdicts.flatMap((each) => each.better))];
  const own = better.find((choice) => isDefault(ownOf(plan, choice)));
  if (own === undefined) return undefined;
  const places = plan.variants.flatMap((_, at) => (at % choices === 0 ? [at] : []));
  const winsOf = (choice: number) =>
    places.filter((at) => beats(compare(plan, runs, { first: at + own, other: at + choice }).change, plan.margin))
      .length;
  const [most = own] = better
    .filter((choice) => 2 * winsOf(choice) >= places.length)
    .sort((a, b) => winsOf(b) - winsOf(a));
  return most;
}

/** Times the default's, from which on a p99 is worth another setting. */
const CHEAPER = 0.9;

function beats({ programs: { mean, p99 }, firstToken: first }: Times, margin: number): boolean {
  const isCheaper = [p99, first.p99].some(
    (each) => verdictOf(each, margin) === 'sooner' && (each.ratio ?? 1) <= CHEAPER,
  );
  const isWorse = [mean, p99, first.p99].some((each) => verdictOf(each, margin) === 'later');
  return verdictOf(mean, margin) === 'sooner' || (isCheaper && !isWorse);
}
