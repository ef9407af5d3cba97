import { hasFewWaits, verdictOf } from '../../lab/index.js';
import type { Arrivals } from '../../workloads/index.js';
import { isChoice, valuesText } from './axes.js';
import { comparisonsOf, ratiosOf } from './comparison.js';
import { axesOf, choicesOf, isSweep, nameOf, type Plan, type Variant } from './plan.js';
import type { RunReport } from './worker.js';
import { isOverloaded } from './recommendation.js';

/** Share of calls that may wait in an engine, and be few. */
const ENGINE_WAITS = 0.05;

/** Questions that the runs leave open because of their load, and the load that would answer them: sentences, if any. */
export function adviceOf(plan: Plan, runs: readonly RunReport[]): string[] {
  const whole = runs.filter(({ complete }) => complete);
  if (whole.length > 0 && whole.every(isUnloaded)) return [tooLow(plan, whole)];
  const high = tooHigh(plan, whole);
  return high.length === 0 && isForNothing(plan, whole) ? [forNothing(plan)] : high;
}

/** Whether some setting only made calls wait, in engines that had room for all. */
function isForNothing(plan: Plan, runs: readonly RunReport[]): boolean {
  const changes = isSweep(plan) ? [] : comparisonsOf(plan).map((pair) => ratiosOf(runs, pair));
  const verdicts = changes.map(({ program_seconds: { mean }, ttft_seconds: { p99 } }) => [verdictOf(mean, plan.margin), verdictOf(p99, plan.margin)]); // prettier-ignore
  const hadRoom = runs.every(({ preemptions }) => preemptions === 0);
  return (
    hadRoom && verdicts.some(([, first]) => first === 'later') && verdicts.every(([program]) => program !== 'sooner')
  );
}

const forNothing = (plan: Plan): string =>
  `Calls waited for nothing: no engine ran out of KV cache, so programs gained no time, and first tokens came later. Raise ${loadText(mostLoaded(plan).arrivals, 'above')}.`;

/** Whether at most 1 in 20 calls waited at the gateway, and as few in its engine: nothing that scheduling could change. */
const isUnloaded = (run: RunReport): boolean =>
  hasFewWaits(run.queue_seconds) && run.engine_waits <= ENGINE_WAITS * run.calls && run.completed === run.programs;

function tooLow(plan: Plan, runs: readonly RunReport[]): string {
  const hasNone = runs.every(({ engine_waits, queue_seconds }) => engine_waits === 0 && queue_seconds.max === 0);
  const found = hasNone ? 'No call ever waited, so nothing could differ' : 'At least 9 of 10 calls never waited, so little could differ'; // prettier-ignore
  return `${found}: raise ${loadText(mostLoaded(plan).arrivals, 'above')}.`;
}

const NAMES_MAX = 6;
/** The rates to look at reach so many times that of a whole run, which its last programs, alone, have lowered. */
const SERVED_SHORT = 1.5;

function tooHigh(plan: Plan, runs: readonly RunReport[]): string[] {
  const drained = plan.variants
    .map((variant, at) => ({ variant, at, own: runs.filter((run) => run.variant === at) }))
    .filter(({ at }) => isOverloaded(runs, at));
  if (!isSweep(plan)) return drained.length === 0 ? [] : [drainText(drained.map(({ variant }) => nameOf(plan, variant)).join(', '), drained)]; // prettier-ignore
  // Where a setting keeps up, the load is not too high for the others to tell something.
  const choices = choicesOf(plan);
  const own = ({ at }: { readonly at: number }) => drained.filter((each) => Math.floor(each.at / choices) === Math.floor(at / choices)); // prettier-ignore
  const whole = drained.filter((each) => own(each).length === choices);
  const axes = axesOf(plan.lists).filter((axis) => choices === 1 || !isChoice(axis));
  const places = [...new Set(whole.map(({ variant }) => valuesText(variant.values, axes)))];
  const some = drained.filter((each) => !whole.includes(each));
  const rateOf = ({ arrivals }: Variant) => (arrivals.type === 'open' ? arrivals.ratePerSecond : 0);
  const sustained = Math.max(0, ...plan.variants.filter((_, at) => whole.every((each) => each.at !== at)).map(rateOf));
  const placeText = (text: string) => (text === '' ? 'Every setting' : text.charAt(0).toUpperCase() + text.slice(1));
  return [
    ...(whole.length > 0 ? [drainText(placeText(listed(places)), whole, sustained)] : []),
    ...(some.length > 0 ? [`${placeText(listed(some.map(({ variant }) => nameOf(plan, variant))))}: overloaded, though other settings kept up.`] : []), // prettier-ignore
  ];
}

/**
 * @param drained variants with their runs, in one or more circumstances
 * @param sustained highest of the other rates, 0: none; undefined: there is one rate
 */
function drainText(
  names: string,
  drained: readonly { readonly variant: Variant; readonly own: readonly RunReport[] }[],
  sustained?: number,
): string {
  const engines = Math.min(...drained.map(({ variant }) => variant.engines));
  const least = drained.filter(({ variant }) => variant.engines === engines);
  const served = Math.max(
    ...least.flatMap(({ own }) => own.map(({ programs_per_second }) => programs_per_second ?? 0)),
  );
  const arrivals = drained[0]?.variant.arrivals;
  const leftOut = sustained === undefined ? '' : ', so left out of the verdict';
  const found = `${names}: overloaded${leftOut}: the queue kept growing, so times grow with the number of programs.`;
  if (arrivals?.type !== 'open') return `${found} Lower --trace-speed.`;
  if (sustained === undefined) return `${found} Lower ${loadText({ ...arrivals, ratePerSecond: served }, 'below')}.`;
  // A run ends with its longest program, so what can be served is more: there the settings begin to differ.
  const most = sustained > 0 ? Math.sqrt(sustained * arrivals.ratePerSecond) : served * SERVED_SHORT;
  return `${found} Try --rate ${Number((most / 3).toPrecision(2))}..${Number(most.toPrecision(2))}.`;
}

function listed(names: readonly string[]): string {
  const more = names.length - NAMES_MAX;
  return [...names.slice(0, NAMES_MAX), ...(more > 0 ? [`${more} more`] : [])].join('; ');
}

function mostLoaded({ variants }: Plan): Variant {
  const load = ({ arrivals, engines }: Variant) => loadOf(arrivals)[1] / engines;
  return variants.reduce((most, each) => (load(each) > load(most) ? each : most));
}

function loadText(arrivals: Arrivals, than: 'above' | 'below'): string {
  const [flag, value] = loadOf(arrivals);
  return `${flag} ${than} ${Number(value.toPrecision(2))}${arrivals.type === 'open' ? ' a second' : ''}`;
}

function loadOf(arrivals: Arrivals): readonly [flag: string, value: number] {
  switch (arrivals.type) {
    case 'open':
      return ['--rate', arrivals.ratePerSecond];
    case 'closed':
      return ['--concurrency', arrivals.concurrency];
    case 'trace':
      return ['--trace-speed', arrivals.speed];
  }
}
