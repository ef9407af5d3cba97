import { isRising, p99Of, type PlaceVerdict, placeVerdict, tailOf } from '../../lab/index.js';
import { KEEPS_UP_PROGRAMS_MIN, moreToTell, type LoadDocument } from '../../loadtest/report/index.js';
import { number } from '../../text/index.js';
import type { Load } from './read-load.js';

export interface Played {
  readonly load: Load;
  readonly document: LoadDocument;
  readonly verdict: PlaceVerdict;
}

export function verdictOf(load: Load, document: LoadDocument): PlaceVerdict {
  const { place, report } = load;
  const { ab } = document;
  return ab === null
    ? { place, better: [], prices: [], losses: [], sentence: `${place}: ${singleText(load, document)}.` }
    : placeVerdict(place, triedOf(document, ab), { margin: report.margin, repeated: 'runs', isExact: false });
}

function triedOf({ targets, runs }: LoadDocument, ab: NonNullable<LoadDocument['ab']>) {
  const leastOf = (name: 'program_seconds' | 'ttft_seconds') => Math.min(...targets.map((each) => each[name].count)) / runs; // prettier-ignore
  const times = {
    programs: ab.program_seconds,
    firstToken: ab.ttft_seconds,
    counts: { programs: leastOf('program_seconds'), calls: leastOf('ttft_seconds') },
    firstTokenP99Seconds: ab.ttft_p99_seconds,
  };
  const p99 = (target: LoadDocument['targets'][number] | undefined, kind: string) => {
    const own = target?.by_workload[kind];
    return own === undefined ? null : p99Of(own.program_seconds);
  };
  return targets.map((target) => ({
    ...{ name: target.name, isOverloaded: target.queue_grew === true, failed: target.failed, times },
    p99s: Object.fromEntries(Object.keys(target.by_workload).map((kind) => [kind, [p99(targets[0], kind), p99(target, kind)] as const])), // prettier-ignore
  }));
}

/** Whether one target kept up, where loads are rates, and its figures. */
function singleText(load: Load, document: LoadDocument): string {
  const [target] = document.targets;
  if (isOverloaded(document)) {
    return `overloaded, ${endedOf(document)}`;
  }
  if (target === undefined || target.completed === 0) return 'no program completed';
  if (!isOpen(load)) return figuresOf(target);
  const { arrivals_seconds: lasted, alone_seconds: alone } = target;
  if (moreToTell(target) !== undefined)
    return `too few programs to tell: they arrived for ${number(lasted)} s, and one alone takes ${number(alone)} s; ${figuresOf(target)}`;
  if (programsToTell(load, document) > 0) return `too few programs to tell; ${figuresOf(target)}`;
  return `${keepsUp(target) ? 'kept up' : 'did not keep up'}; ${figuresOf(target)}`;
}

/** Room for chance: programs of another run take longer, or arrive sooner. */
const AMPLE = 1.25;

/** Programs of a run that would tell whether a rate is sustained; 0: these do. */
export function programsToTell(load: Load, { targets, runs }: LoadDocument): number {
  if (!isOpen(load)) return 0;
  const short = targets.map((target) => ((moreToTell(target) ?? 0) * AMPLE * target.programs) / runs);
  const isFew = targets.some(({ programs }) => programs < KEEPS_UP_PROGRAMS_MIN);
  const most = roundUp(Math.max(...short));
  return most === 0 && !isFew ? 0 : Math.max(KEEPS_UP_PROGRAMS_MIN, most);
}

export const roundUp = (programs: number): number => Math.ceil(programs / 10) * 10;

function figuresOf(target: LoadDocument['targets'][number]): string {
  const { program_seconds: program, ttft_seconds: first, failed } = target;
  const [tail, firstTail] = [tailOf([program]), tailOf([first])];
  return [
    `programs ${number(program.mean)} s on average, ${tail} ${number(program[tail])}`,
    `first token p50 ${number(first.p50)} s, ${firstTail} ${number(first[firstTail])}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
  ].join('; ');
}

export const isOverloaded = ({ targets }: LoadDocument): boolean =>
  targets.every(({ queue_grew }) => queue_grew === true);
const isTold = ({ load, document }: Played): boolean => programsToTell(load, document) === 0;
export const sustains = (one: Played): boolean => isTold(one) && one.document.targets.some(keepsUp);
export const rises = (loads: readonly Load[]): boolean => isRising(loads.map(({ value }) => value ?? 0));
export const isOpen = ({ options }: Load): boolean => options.arrivals.type === 'open';

/** Share of programs that may fail under a load that is sustained. */
const FAILED_SHARE_MAX = 0.01;

export const keepsUp = ({ queue_grew, programs, completed, failed }: LoadDocument['targets'][number]): boolean =>
  queue_grew !== true && completed > 0 && failed <= FAILED_SHARE_MAX * programs;

const endedOf = ({ targets: [target] }: LoadDocument): string =>
  `${number(target?.programs_per_second ?? null)} programs a second ended`;

/** The sentence on a load at or above an overload, where a higher load is sustained. */
export function beliedOf({ document, verdict: { place, sentence } }: Played): string {
  if (!isOverloaded(document)) return sentence;
  const figures = document.ab === null ? document.targets.map((target) => `; ${figuresOf(target)}`).join('') : '';
  return `${place}: too few programs to tell: the queue grew, but not under a higher load${figures}.`;
}

/** The sentence on a load at or above an overload, where no higher load is sustained. */
export function aboveOverloadOf(one: Played, overload: Played | undefined): string {
  const { place, sentence } = one.verdict;
  if (one.document.ab !== null || isTold(one)) return sentence;
  return `${place}: overloaded, as ${overload?.load.value} a second is; ${endedOf(one.document)}.`;
}
