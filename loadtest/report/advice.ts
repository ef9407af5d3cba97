import { hasFewWaits, scaled } from '../../lab/index.js';
import { number } from '../../text/index.js';
import { RUNS } from '../load.js';
import { BUSY } from '../warnings.js';
import type { Summarized } from './document.js';
import { causesOf } from './pairs.js';
import { isLossy, isSlowed, leftText, programsToTell, sustains, type TargetReport } from './target.js';

type Targets = readonly TargetReport[];

/** As many runs as there were, and enough to compare two targets. */
export const runsOf = (documents: readonly Pick<Timed, 'targets'>[]): number =>
  Math.max(
    ...documents.flatMap(({ targets }) => [
      targets.length > 1 ? RUNS : 1,
      ...targets.map((each) => each.by_run.length),
    ]),
  );
const repeatText = (runs: number): string => (runs > 1 ? ` --repeat ${runs}` : '');

/** How far beyond the loads that were tried to look on. */
export const BEYOND = 4;
/** Times the programs that ended a second where too many came, above which nothing is sustained: those at its ends are among them. */
const ENDED = 1.25;

/** The most that may be sustained where this is not. */
export const mostOf = (rate: number, targets: Targets): number =>
  targets.every(({ queue_grew }) => queue_grew === true)
    ? Math.min(rate, ENDED * Math.max(...targets.map((each) => each.programs_per_second ?? 0)))
    : rate;

/** Asks for loads between these; nothing: there are none. */
export function tryText(low: number, high: number, runs: number, isRate: boolean): string {
  const [first, last] = [low, high].map((value) =>
    isRate ? Number(value.toPrecision(2)) : Math.max(1, Math.round(value)),
  ) as [number, number];
  return last - first > Number(!isRate)
    ? `Try --${isRate ? 'rate' : 'concurrency'} ${first}..${last}${repeatText(runs)}.`
    : '';
}

type Timed = Pick<Summarized, 'targets' | 'settings' | 'elapsed_seconds' | 'isApart'>;

/** Asks for these loads again. @param programs of each run; absent: as many as there were */
function againText(documents: readonly Timed[], runs: number, programs?: number): string {
  const of = (name: string) =>
    documents.flatMap(({ settings: { [name]: value } }) => (typeof value === 'number' ? [value] : [])).join(',');
  // More programs than a recording has do not arrive at its times.
  const rate =
    programs === undefined ? of('rate_per_second') : documents.flatMap((each) => rateOf(each) ?? []).join(',');
  const counts = of('concurrency');
  const dropped = [
    ...(of('duration_seconds') === '' ? [] : ['--duration']),
    ...(/^1?$/.test(of('trace_speed')) ? [] : ['--trace-speed']),
  ];
  const flags = [
    ...(rate === '' ? [] : [` --rate ${rate}`]),
    ...(counts === '' ? [] : [` --concurrency ${counts}`]),
    ...(programs === undefined ? [] : [` --programs ${programs}`]),
    repeatText(runs),
    ...(programs === undefined || dropped.length === 0 ? [] : [`, and no ${dropped.join(' or ')}`]),
  ];
  const again = documents.some(({ isApart }) => isApart) ? 'run both again' : 'run again';
  return `${again} with${flags.join('')}: ${timeText(documents, runs, programs)}.`;
}

/** Asks for the programs that would tell whether a rate can be sustained, if any number would. */
export function openText(document: Timed): string {
  const { targets } = document;
  const programs = programsToTell(targets);
  const whether = `whether ${String(rateOf(document))} a second can be sustained`;
  if (programs === 0) return `Not known without a baseline ${whether}.`;
  const again = againText([document], runsOf([document]), programs);
  return `Too few programs to tell ${whether}: ${again}${lowerText(document, programs)}`;
}

/** Programs of which so many times more are a long run. */
const LONG = 10;

/** Asks for a lower rate first, if too high a one may be why so many programs would tell. */
function lowerText(document: Timed, programs: number): string {
  const target = document.targets.find(isSlowed);
  const had = target === undefined ? Infinity : target.programs / target.by_run.length;
  if (target === undefined || programs < LONG * had) return '';
  const slowdown = { ...target.slowdown, mean: 1 };
  const calm = { ...target, slowdown, arrivals_seconds: scaled(target.arrivals_seconds, BEYOND) };
  const [rate, slowed] = [(rateOf(document) ?? 0) / BEYOND, target.slowdown.mean ?? 0].map((value) =>
    Number(value.toPrecision(2)),
  );
  return ` Try --rate ${rate} --programs ${programsToTell([calm]) || had} first, as programs took ${slowed} times as long as alone.`;
}

/** Asks for loads again under which a target did worse than under a higher one. */
export const worseText = (documents: readonly Timed[]): string =>
  `A lower load did worse than a higher one: ${againText(documents, runsOf(documents))}`;

/** Programs for each one at a time: of fewer, many fill or empty the engines. */
const STEADY = 10;

/** Asks for longer runs of programs at a time, if these are short. */
export function shortText(documents: readonly Timed[]): string[] {
  const countOf = ({ settings }: Timed) => Number(settings['concurrency']);
  const short = documents.filter(
    (each) =>
      countOf(each) > 0 &&
      !each.targets.some(
        (target) => isLossy(target) || target.programs >= STEADY * target.by_run.length * countOf(each),
      ),
  );
  const programs = STEADY * Math.max(...short.map(countOf));
  return short.length === 0
    ? []
    : [`Many of so few programs fill or empty the engines: ${againText(short, runsOf(short), programs)}`];
}

/** Asks for the runs that would tell where two targets seem to differ; a busy machine would hide it from any number. */
export function tooFewRunsText(documents: readonly (Timed & Pick<Summarized, 'ab' | 'warnings'>)[]): string {
  if (documents.some(({ warnings }) => warnings.some((text) => text.includes(BUSY))))
    return `${BUSY} to tell which is better: run again on an idle one.`;
  const runs = Math.max(...documents.map(({ ab }) => ab?.runs_to_tell ?? 1));
  return `To tell which is better, ${againText(documents, runs)}`;
}

/** Programs a second, as given, or as a recording has them. */
function rateOf({ settings, targets: [target] }: Pick<Timed, 'settings' | 'targets'>): number | undefined {
  const { rate_per_second: rate, arrivals } = settings;
  if (arrivals !== 'trace' || !target?.arrivals_seconds) return Number(rate) || undefined;
  // By the gaps between arrivals: n programs have n - 1.
  return Number(((target.programs / target.by_run.length - 1) / target.arrivals_seconds).toPrecision(2));
}

/** How long these loads would take, by the time that they took. @param programs of each run; absent: as many as there were */
function timeText(documents: readonly Timed[], runs: number, programs?: number): string {
  const seconds = documents.map(({ targets, elapsed_seconds }) => {
    const { programs: had = 1, by_run = [] } = targets[0] ?? {};
    return (elapsed_seconds * runs * (programs ?? had / by_run.length)) / Math.max(1, had);
  });
  return `about ${Math.ceil(seconds.reduce((sum, each) => sum + each, 0) / 60)} min`;
}

/** Errors that a lower load may end. */
const OF_LOAD: readonly string[] = ['http_408', 'http_429', 'http_503', 'timeout'];

/** Asks for loads under which a target that failed many programs may fail none. */
export function failingText(document: Timed): string {
  const { targets, settings } = document;
  const failing = targets.filter(isLossy);
  const rate = rateOf(document);
  const load = rate ?? Number(settings['concurrency']);
  const shares = failing.map(({ completed, programs }) => completed / programs).filter((share) => share > 0);
  const isOfLoad = failing.every((target) => OF_LOAD.includes(causesOf(target)[0]?.[0] ?? ''));
  const tried = isOfLoad
    ? tryText(load * Math.min(1 / BEYOND, ...shares), load, runsOf([document]), rate !== undefined)
    : '';
  return tried || 'Find out why its calls fail, and run again.';
}

export const BRING_BACK = 'Bring it back and run again.';

/** Questions that the load leaves open, and the load that would answer them. */
export function adviceOf(document: Summarized): string[] {
  const { targets, settings, complete, ab } = document;
  const rate = rateOf(document);
  // Whatever else there is to say is of a target that is not whole.
  if (targets.some((target) => leftText(target) !== undefined)) return [BRING_BACK];
  const isLost = targets.some(isLossy);
  // Two that nothing slows can be compared all the same.
  const isShort = targets.some(
    (target) => target.queue_grew !== true && (ab === null || isSlowed(target)) && programsToTell([target]) > 0,
  );
  if (rate !== undefined && complete && isShort && !isLost) return [openText(document)];
  const lines = targets.flatMap((target) => {
    const { name, queue_grew, ended_per_second: ended } = target;
    const say = (text: string) => [
      targets.length > 1 ? `${name}: ${text}.` : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
    ];
    if (rate === undefined) return [];
    const came = `${number(rate)} a second`;
    if (queue_grew === true)
      return say(
        `overloaded: ${came} came and ${number(ended)} ended meanwhile: the queue kept growing, so times grow with the number of programs`,
      );
    const isKept = sustains(target, true);
    if (!complete || (isKept === undefined && programsToTell([target]) > 0)) return [];
    if (isKept === undefined) return say(`not known without a baseline whether it kept up with ${came}`);
    return say(
      isKept ? `kept up with ${came}` : `did not keep up with ${came}, as more than 1 % of its programs failed`,
    );
  });
  // Where one of two keeps up, this is an answer.
  if (targets.every(({ queue_grew }) => queue_grew === true)) {
    const most = mostOf(rate ?? 0, targets);
    return most > 0 ? [...lines, tryText(most / BEYOND, most, runsOf([document]), true)] : lines;
  }
  if (isLost) return [...lines, failingText(document)];
  // At a pass-through, no call ever waits, whatever the load.
  const queues = targets.filter(({ policy }) => policy !== 'pass-through').map(({ queue_seconds }) => queue_seconds);
  const short = complete ? shortText([document]) : [];
  if (queues.length > 0 && queues.every(hasFewWaits)) {
    const more =
      rate === undefined ? `--concurrency above ${String(settings['concurrency'])}` : `--rate above ${number(rate)}`;
    lines.push(`At most 5 of 100 calls waited at the gateway, so its policy could change little: try ${more}.`);
  } else if (short.length > 0) lines.push(...short);
  else if (complete && typeof ab?.runs_to_tell === 'number') lines.push(tooFewRunsText([document]));
  return lines;
}
