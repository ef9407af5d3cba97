import { isMany, meanOf, namesOf, shownFrom } from '../../lab/index.js';
import { resultOf } from '../../loadtest/report/index.js';
import { integer, number, percent } from '../../text/index.js';
import { valuesText } from './axes.js';
import { again, auto, loadsOf, longerOf, PROGRAMS_MAX } from './loads.js';
import { isUnloaded, loadOf, programsToTell } from './overload.js';
import { choicesOf, circumstancesOf, type Plan, settingOf, valuesOf, variantsAt } from './plan.js';
import type { RunReport } from './worker.js';

/**
 * Up to which load, or from how many engines on, each setting keeps up in most seeds, and meets the objectives. Of one
 * load, in how many seeds it meets these.
 */
export function sustainedOf(plan: Plan, runs: readonly RunReport[]): string[] {
  const [engines, { axis, values: given }] = [enginesOf(plan), loadsOf(plan)];
  const isOfEngines = engines.length > 1 || plan.searched === 'engines';
  const values = isOfEngines ? engines : axis === 'rate' || plan.slos.length > 0 ? given : [];
  const isOne = values.length < 2 && !isOfEngines;
  const isOverloading =
    choicesOf(plan) === plan.variants.length &&
    plan.variants.some((_, at) => loadOf(plan, runs, at).overloaded.size > 0);
  if (isOne && plan.slos.length === 0 && !isOverloading) return [];
  const [at, unit] = isOfEngines ? ['on', 'engines'] : axis === 'rate' ? ['at', 'a second'] : ['with', 'at a time'];
  const named = new Map<string, string[]>();
  for (const choice of variantsAt(plan, 0)) {
    const loads = Array.from({ length: isOne ? 1 : values.length }, (_, place) => ({
      value: values[place],
      ...loadOf(plan, runs, place * choicesOf(plan) + choice),
    }));
    // The lowest load first: the lowest rate, or the most engines.
    if (isOfEngines) loads.reverse();
    const end = loads.findIndex(({ isKept }) => !isKept);
    const last = loads.at(end === -1 ? -1 : end - 1);
    // It may do, as it is met, though not for certain.
    const isUnknown = loads[end]?.isMet === true;
    const share = `${last?.kept} of ${last?.seeds}`;
    const some =
      last === undefined || last.kept === last.seeds ? '' : ` (${end === -1 ? `${at} ${last.value} in ` : ''}${share})`;
    const upTo = isOfEngines
      ? `on ${last?.value} engines or more${isUnknown ? ', perhaps on fewer' : ''}`
      : `${isUnknown ? 'at least ' : ''}up to ${last?.value} ${unit}`;
    const reach =
      end === 0
        ? isUnknown
          ? 'unknown, with so few programs'
          : NONE
        : `${end === -1 ? (isOfEngines && values.length === 1 ? valuesText({ engines: values[0] ?? 1 }) : 'all of these') : upTo}${some}`;
    const text = isOne ? share : reach;
    named.set(text, [...(named.get(text) ?? []), settingOf(plan, choice)]);
  }
  const groups = [...named].sort(
    ([, one], [, other]) => Number(isMany(one)) * one.length - Number(isMany(other)) * other.length,
  );
  const texts = groups.map(([text, names], at) =>
    groups.length === 1
      ? text
      : `${isMany(names) && at === groups.length - 1 ? `the ${names.length} others` : namesOf(names)} ${text}`,
  );
  const objectives = objectivesOf(plan);
  const what = `${isOne ? 'Seeds that sustain this load' : 'Sustained'}${objectives === '' ? '' : ` with ${objectives}`}`;
  const most = isOne || plan.isExact || plan.seeds.length < 2 ? '' : ' in most seeds';
  const few = Math.min(...runs.map(({ programs }) => programs));
  const limit =
    isOfEngines && plan.slos.length === 0 && groups.some(([text]) => text !== NONE)
      ? `; of ${integer(few)} programs, an overload below ${percent(shownFrom(few))} does not show`
      : '';
  return [`${what}${most}: ${texts.join('; ')}${limit}.${nearestOf(plan, runs)}`];
}

const NONE = 'none of these';

/** Where nothing meets the objectives: what comes nearest of all that is not overloaded. A sentence. */
function nearestOf(plan: Plan, runs: readonly RunReport[]): string {
  const loads = plan.variants.map((_, at) => loadOf(plan, runs, at));
  if (plan.slos.length === 0 || loads.some(({ isMet }) => isMet)) return '';
  const tried = plan.variants.flatMap(({ values }, at) => {
    const own = runs.filter(({ variant }) => variant === at);
    const figures = plan.slos.map((slo) => {
      const value = meanOf(own.map((run) => resultOf(slo, null, run).value));
      const over = value === null ? Infinity : slo.operator.startsWith('<') ? value - slo.limit : slo.limit - value;
      return { text: `${slo.path.join('.')} ${number(value)}`, excess: over / (slo.limit || 1) };
    });
    const excess = Math.max(...figures.map((each) => each.excess));
    const place = valuesText(values, circumstancesOf(plan.lists));
    const kept = loads[at]?.kept ?? 0;
    const text = `${[settingOf(plan, at), ...(place === '' ? [] : [place])].join(' ')}, ${figures.map((each) => each.text).join(', ')}${kept > 0 ? `, met in ${kept} of ${plan.seeds.length}` : ''}`;
    return loads[at]?.isHeld === true && excess < Infinity ? [{ excess, text }] : [];
  });
  const [nearest] = tried.sort((a, b) => a.excess - b.excess);
  return nearest === undefined ? '' : ` Nearest: ${nearest.text}.`;
}

/** The next option of a search for the number of engines that is enough: a sentence. */
export function enginesNext(plan: Plan, runs: readonly RunReport[]): string | undefined {
  const [engines, choices] = [enginesOf(plan), choicesOf(plan)];
  const isMissed = plan.slos.length > 0 && !plan.variants.some((_, at) => loadOf(plan, runs, at).isMet);
  if (isMissed && plan.searched !== undefined)
    return `${plan.searched === 'engines' ? 'More engines' : 'A lighter load'} would hardly help: change the model, the machine or the objective.`;
  const { axis, values } = loadsOf(plan);
  const isHeld = plan.variants.some((_, at) => loadOf(plan, runs, at).isHeld);
  if (isMissed && values.length === 1 && plan.lists.concurrency?.[0] === 1)
    return `No load meets ${objectivesOf(plan)}, as programs miss it one at a time ${valuesText({ engines: plan.variants[0]?.engines ?? 1 })}: change the model, the machine or the objective.`;
  if (isMissed && values.length === 1 && isHeld)
    return `No setting meets ${objectivesOf(plan)} at this load: ${axis === 'rate' ? auto(plan, axis, 'those at which one does') : auto(plan, 'engines', 'the fewest on which one does')}`;
  if (engines.length < 2) return undefined;
  const loads = engines.map((_, at) => variantsAt(plan, at).map((variant) => loadOf(plan, runs, variant)));
  const unknown = loads.findLastIndex((each) => each.some(({ state }) => state === 'unknown'));
  const programs = unknown < 0 ? undefined : programsToTell(plan, runs, unknown * choices);
  if (programs !== undefined)
    return `Too few programs to tell how many engines sustain this rate: ${again(plan, programs)}`;
  const firsts = variantsAt(plan, 0).map((choice) => loads.findIndex((each) => each[choice]?.isKept));
  // So many seeds overload these that longer runs may overload most.
  const edge = firsts.find((first, choice) => loads[first]?.[choice]?.state === 'split');
  const longer = edge === undefined ? undefined : longerOf(plan, 2 * PROGRAMS_MAX);
  if (longer !== undefined)
    return `Too few programs to tell whether this rate is sustained ${valuesText({ engines: engines[edge ?? 0] ?? 1 })}: ${again(plan, longer)}`;
  const isOpen = firsts.some((first) => first >= 0 && (engines[first] ?? 1) > (engines[first - 1] ?? 0) + 1);
  const isMore = plan.searched === undefined && firsts.includes(-1);
  return isOpen || isMore
    ? `The fewest that are enough may not be among these: ${auto(plan, 'engines', 'them')}`
    : undefined;
}

/** Whether so many programs came that each variant shows what it sustains. */
export const isTelling = (plan: Plan, runs: readonly RunReport[]): boolean =>
  plan.variants.every((_, at) => loadOf(plan, runs, at).state !== 'unknown');

/** Whether nothing waits at one load, and more programs would not change that. */
export const isIdle = (plan: Plan, runs: readonly RunReport[]): boolean =>
  valuesOf(plan, 'rate').length < 2 &&
  enginesOf(plan).length < 2 &&
  runs.length > 0 &&
  runs.every(isUnloaded) &&
  isTelling(plan, runs);

export const objectivesOf = ({ slos }: Plan): string => slos.map(({ expression }) => expression).join(' and ');

/** Seeds that tell where a load begins to be sustained. */
export const SEEDS = 8;

/** Numbers of engines, if nothing else around the settings varies at one rate, or there is an objective; else none. */
export const enginesOf = (plan: Plan): readonly number[] =>
  plan.variants[0]?.arrivals.type === 'open' || plan.slos.length > 0 ? valuesOf(plan, 'engines') : [];
