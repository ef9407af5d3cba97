import { p99Of, type PlaceVerdict, placeVerdict, tailOf } from '../../lab/index.js';
import { causesText, isLossy, keepsUp, moreToTell, programsToTell, type Summarized } from '../../loadtest/report/index.js'; // prettier-ignore
import { number } from '../../text/index.js';
import { placeOf } from '../sim/axes.js';

export interface Played {
  readonly document: Summarized;
  /** Such as `At 0.5 a second`, and its number. */
  readonly place: string;
  readonly value: number;
  readonly verdict: PlaceVerdict;
  /** Whether a lower load overloads all targets, and this one is too short to tell: it does so, too. */
  readonly isAsLower: boolean;
  /** The figures and the verdict, in a line. */
  readonly sentence: string;
}

/** @param lower those before it */
export function playedOf(document: Summarized, lower: readonly Played[]): Played {
  const { ab, targets, settings } = document;
  const place = placeIn(document);
  const overload = lower.find((each) => isOverloaded(each.document));
  const isLost = targets.some(isLossy);
  const tried = ab === null || isLost ? [] : triedOf(document, ab);
  const verdict = placeVerdict(place, tried, { margin: Number(settings['margin']), repeated: 'runs', isExact: false });
  const isAsLower = overload !== undefined && programsToTell(targets) > 0;
  const over = targets.filter(({ queue_grew }) => isAsLower || queue_grew === true).map(({ name }) => name);
  const where =
    over.length === 0 ? place : `${place}, where ${over.length > 1 ? 'both are' : `${over[0]} is`} overloaded`;
  const sentence = ab === null || isLost ? `${place}: ${ab?.outcome.replace('Not', 'not') ?? `${singleText(document, overload)}.`}` : `${where}, ${ab.outcome}`; // prettier-ignore
  return { document, place, value: (settings['rate_per_second'] ?? settings['concurrency']) as number, verdict, isAsLower, sentence }; // prettier-ignore
}

export function placeIn({ settings }: Summarized): string {
  const [rate, concurrency] = ['rate_per_second', 'concurrency'].map((name) => settings[name]);
  return placeOf(typeof rate === 'number' ? { rate } : { concurrency: Number(concurrency) });
}

function triedOf({ targets }: Summarized, ab: NonNullable<Summarized['ab']>) {
  const leastOf = (name: 'program_seconds' | 'ttft_seconds') => Math.min(...targets.map((each) => each[name].count)) / ab.runs; // prettier-ignore
  const times = {
    programs: ab.program_seconds,
    firstToken: ab.ttft_seconds,
    counts: { programs: leastOf('program_seconds'), calls: leastOf('ttft_seconds') },
    firstTokenP99Seconds: ab.ttft_p99_seconds,
  };
  const p99 = (target: Summarized['targets'][number] | undefined, kind: string) => {
    const own = target?.by_workload[kind];
    return own === undefined ? null : p99Of(own.program_seconds);
  };
  return targets.map((target) => ({
    ...{ name: target.name, isOverloaded: target.queue_grew === true, isOut: isOverloaded({ targets }), failed: target.failed, times }, // prettier-ignore
    p99s: Object.fromEntries(Object.keys(target.by_workload).map((kind) => [kind, [p99(targets[0], kind), p99(target, kind)] as const])), // prettier-ignore
  }));
}

/** Whether one target kept up, where loads are rates, and its figures. */
function singleText(document: Summarized, overload?: Played): string {
  const [target] = document.targets;
  const ended = `${number(target?.programs_per_second ?? null)} a second ended`;
  if (isOverloaded(document)) return `overloaded, ${ended}`;
  if (target === undefined || target.completed === 0) return 'no program completed';
  if (!isOpen(document)) return figuresOf(target);
  const isFew = programsToTell(document.targets) > 0;
  if (isFew && overload !== undefined) return `overloaded, as ${overload.value} a second is; ${ended}`;
  const [lasted, more] = [target.arrivals_seconds ?? 0, moreToTell(target)];
  const short = more === undefined ? '' : `: they arrived for ${number(lasted)} s, and ${number(more * lasted)} s would tell`; // prettier-ignore
  if (isFew) return `too few programs to tell${short}; ${figuresOf(target)}`;
  return `${keepsUp(target) ? 'kept up' : 'did not keep up'}; ${figuresOf(target)}`;
}

function figuresOf(target: Summarized['targets'][number]): string {
  const { program_seconds: program, ttft_seconds: first, failed } = target;
  const [tail, firstTail] = [tailOf([program]), tailOf([first])];
  return [
    `programs ${number(program.mean)} s on average, ${tail} ${number(program[tail])}`,
    `first token p50 ${number(first.p50)} s, ${firstTail} ${number(first[firstTail])}`,
    ...(failed > 0 ? [`${failed} failed${causesText(target)}`] : []),
  ].join('; ');
}

export const isOverloaded = ({ targets }: Pick<Summarized, 'targets'>): boolean =>
  targets.every(({ queue_grew }) => queue_grew === true);
export const isTold = ({ document }: Played): boolean => !isOpen(document) || programsToTell(document.targets) === 0;

/** Whether a target keeps up with a load, and meets its objectives there; undefined: too few programs tell. */
export function isSustained({ document }: Played, at: number): boolean | undefined {
  const target = document.targets[at] as Summarized['targets'][number];
  const isMissed = document.slo.some(({ met, target: own }) => !met && own === target.name);
  if (target.queue_grew === true || isMissed) return false;
  return isOpen(document) && programsToTell([target]) > 0 ? undefined : keepsUp(target);
}

export const isOpen = ({ settings }: Summarized): boolean => typeof settings['rate_per_second'] === 'number';
