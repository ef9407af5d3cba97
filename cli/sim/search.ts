import type { Searched } from './axes.js';
import { COMPARED } from './comparison.js';
import { beginOf, LOAD_MAX, type Run, twoDigits } from './begin.js';
import { loadOf } from './overload.js';
import { VALUES_MAX } from './lists.js';
import { choicesOf, type Plan, variantsAt, withValues } from './plan.js';
import { verdictsOf } from './verdicts.js';
import type { RunReport } from './worker.js';

/** Least programs for each one at a time: of fewer, most run while the engines fill or empty. */
const AT_ONCE = 16;
/** Ratio of neighbouring rates, and one from which on there is a rate between them. */
const STEP = Math.SQRT2;
const FAR = 1.25;
/** Share of the mean time by which a lighter load must change it. */
const FLAT = 0.01;
/** Engines on which a program, with all that it does side by side, hardly gains from more. */
const IDLE_ENGINES = 16;

interface Found {
  readonly plan: Plan;
  readonly runs: readonly RunReport[];
}

/**
 * The values of one circumstance that tell most, and their runs. Rates: from the lowest that pays, or that the first
 * setting sustains, to one that none does. Numbers at a time: from where calls begin to wait to where it pays. Engines:
 * the fewest that are enough for each setting, and one less.
 * @param isSized whether the number of programs is given
 * @param run makes all runs of a plan; when stopped, some of them
 */
export async function search(plan: Plan, axis: Searched, isSized: boolean, run: Run): Promise<Found> {
  const missed = await missedAlone(plan, axis, run);
  if (missed !== undefined) return missed;
  const begin = await beginOf(plan, axis, isSized, run);
  const sized = { ...plan, programs: begin.programs };
  const found = new Map<number, readonly RunReport[]>();
  for (let next: number | undefined = begin.value; next !== undefined && found.size < VALUES_MAX;) {
    const trial = withValues(sized, axis, [next]);
    const runs = await run(trial);
    const isWhole =
      runs.length === trial.variants.length * trial.seeds.length && runs.every(({ complete }) => complete);
    // Stopped: the values before tell without it.
    if (!isWhole && found.size > 0) break;
    found.set(next, runs);
    const isSome = runs.some(({ completed }) => completed > 0);
    next = isWhole && isSome ? NEXT[axis](joined(sized, axis, found)) : undefined;
  }
  return joined(sized, axis, found);
}

/** Runs in which programs that run one at a time miss an objective of times: no load and no number of engines meets it. */
async function missedAlone(plan: Plan, axis: Searched, run: Run): Promise<Found | undefined> {
  const slos = plan.slos.filter(
    ({ operator, path }) => operator.startsWith('<') && COMPARED.some((name) => path.includes(name)),
  );
  if (slos.length === 0) return undefined;
  const one = withValues({ ...plan, slos, searched: undefined }, 'concurrency', [1]);
  const alone = axis === 'engines' ? withValues(one, axis, [IDLE_ENGINES]) : one;
  const runs = await run(alone);
  return alone.variants.some((_, at) => loadOf(alone, runs, at).isMet) ? undefined : { plan: alone, runs };
}

/** The next value to try; undefined: these tell enough. */
const NEXT: Readonly<Record<Searched, (found: Found) => number | undefined>> = {
  rate: ({ plan, runs }) => {
    const rates = plan.lists.rate ?? [];
    const [low = 0, high = 0] = [rates[0], rates.at(-1)];
    const held = rates.map((_, at) => variantsAt(plan, at).some((variant) => loadOf(plan, runs, variant).isKept));
    const { isKept, isMet } = loadOf(plan, runs, 0);
    if (!isMet) return isFlat(plan, runs, 0, 1) ? undefined : twoDigits(low / 2);
    if (!isKept || pays({ plan, runs }, 0)) return twoDigits(low / STEP);
    if (held.at(-1) === true) return twoDigits(high * STEP);
    // Between the most that is sustained, or the most that does not pay, and the next rate.
    const edges = [held.indexOf(false), rates.findIndex((_, at) => pays({ plan, runs }, at))];
    const middle = edges.map((at) => between(rates, at)).find((value) => value !== undefined);
    return middle && twoDigits(middle);
  },
  concurrency: ({ plan, runs }) => {
    const numbers = plan.lists.concurrency ?? [];
    const [low = 1, high = 1] = [numbers[0], numbers.at(-1)];
    const paying = numbers.map((_, at) => pays({ plan, runs }, at));
    const isMissed = !variantsAt(plan, 0).some((variant) => loadOf(plan, runs, variant).isMet);
    if (low > 1 && (isMissed || paying[0] === true)) return Math.floor(low / STEP);
    if (isMissed) return undefined;
    const next = Math.ceil(high * STEP);
    if (paying.slice(-2).filter(Boolean).length < 2 && next * AT_ONCE <= plan.programs) return next;
    const middle = between(numbers, paying.indexOf(true));
    return middle && Math.round(middle);
  },
  engines: ({ plan, runs }) => {
    const numbers = plan.lists.engines ?? [];
    const [low = 1, high = 1] = [numbers[0], numbers.at(-1)];
    const held = numbers.map((_, at) => variantsAt(plan, at).map((variant) => loadOf(plan, runs, variant).isKept));
    if (low > 1 && held[0]?.includes(true) === true) return Math.floor(low / 2);
    const end = numbers.length - 1;
    const isOver = variantsAt(plan, end).some((variant) => !loadOf(plan, runs, variant).isMet);
    // On as many engines as programs at a time, each has its own. Where twice as many changed nothing, no number does.
    if (
      isOver &&
      !isFlat(plan, runs, end, end - 1) &&
      2 * high <= Math.min(LOAD_MAX, plan.lists.concurrency?.[0] ?? plan.programs)
    )
      return 2 * high;
    const isEdge = (at: number) => held[at]?.some((is, choice) => is && held[at - 1]?.[choice] === false) === true;
    const above = numbers.findIndex((number, at) => at > 0 && number > (numbers[at - 1] ?? 0) + 1 && isEdge(at));
    return above < 0 ? undefined : Math.floor(((numbers[above - 1] ?? 0) + (numbers[above] ?? 0)) / 2);
  },
};

/** A value between neighbours, if they are far apart. */
function between(values: readonly number[], at: number): number | undefined {
  const [last = Infinity, next = 0] = [values[at - 1], values[at]];
  return next > FAR * last ? Math.sqrt(last * next) : undefined;
}

/** Whether no queue grows under the lightest load, and all programs take the same time as under the next, but for a hundredth. */
function isFlat(plan: Plan, runs: readonly RunReport[], lightest: number, next: number): boolean {
  const timesAt = (at: number) =>
    variantsAt(plan, at).map((variant) =>
      runs.reduce((sum, run) => sum + (run.variant === variant ? (run.program_seconds.mean ?? 0) : 0), 0),
    );
  const before = timesAt(next);
  const isGrowing = variantsAt(plan, lightest).some((variant) => loadOf(plan, runs, variant).overloaded.size > 0);
  return !isGrowing && timesAt(lightest).every((time, choice) => Math.abs(time - (before[choice] ?? 0)) <= FLAT * time);
}

const pays = ({ plan, runs }: Found, at: number): boolean => (verdictsOf(plan, runs)[at]?.better.length ?? 0) > 0;

/** All values that were tried, rising, as of one plan. */
function joined(plan: Plan, axis: Searched, found: ReadonlyMap<number, readonly RunReport[]>): Found {
  const tried = [...found].sort(([a], [b]) => a - b);
  const choices = choicesOf(plan);
  return {
    plan: withValues(
      plan,
      axis,
      tried.map(([value]) => value),
    ),
    runs: tried.flatMap(([, runs], at) => runs.map((run) => ({ ...run, variant: at * choices + run.variant }))),
  };
}
