import { p99Of, type PlaceVerdict, placeVerdict, tailOf } from '../../lab/index.js';
import { causesText, isLossy, programsToTell, sustains, type Summarized } from '../../loadtest/report/index.js';
import { number } from '../../text/index.js';
import { placeOf } from '../sim/axes.js';

export interface Played {
  readonly document: Summarized;
  /** Such as `At 0.5 a second`, and its number. */
  readonly place: string;
  readonly value: number;
  readonly verdict: PlaceVerdict;
  /** Names of the targets that it overloads. */
  readonly over: readonly string[];
  /** The figures and the verdict, in a line. */
  readonly sentence: string;
}

/** A load that too few programs tell of overloads a target that a lower one does. @param lower those before it */
export function carried<D extends Summarized>(document: D, lower: readonly Played[]): D {
  const isOver = (target: Target) =>
    programsToTell([target]) > 0 && lower.some(({ over }) => over.includes(target.name));
  return {
    ...document,
    targets: document.targets.map((each) => (isOver(each) ? { ...each, queue_grew: true } : each)),
  };
}

export function playedOf(document: Summarized): Played {
  const { ab, targets, settings } = document;
  const place = placeIn(document);
  const over = targets.filter(({ queue_grew }) => queue_grew === true).map(({ name }) => name);
  const isLost = targets.some(isLossy);
  const tried = ab === null || isLost ? [] : triedOf(document, over, ab);
  const verdict = placeVerdict(place, tried, { margin: Number(settings['margin']), repeated: 'runs', isExact: false });
  const where =
    over.length === 0 ? place : `${place}, where ${over.length > 1 ? 'both are' : `${over[0]} is`} overloaded`;
  const sentence =
    ab === null || isLost
      ? `${place}: ${ab?.outcome.replace('Not', 'not') ?? `${singleText(document)}.`}`
      : `${where}, ${ab.outcome}`;
  return { document, place, value: valueOf(document), verdict, over, sentence };
}

type Target = Summarized['targets'][number];

export const valueOf = ({ settings }: Summarized): number =>
  Number(settings['rate_per_second'] ?? settings['concurrency']);

export const placeIn = (document: Summarized): string =>
  placeOf({ [isOpen(document) ? 'rate' : 'concurrency']: valueOf(document) });

function triedOf({ targets }: Summarized, over: readonly string[], ab: NonNullable<Summarized['ab']>) {
  const leastOf = (name: 'program_seconds' | 'ttft_seconds') =>
    Math.min(...targets.map((each) => each[name].count)) / ab.runs;
  const kinds = Object.keys(targets[0]?.by_workload ?? {}).map((kind) => {
    const p99s = targets.map(({ by_workload: { [kind]: own } }) =>
      own === undefined ? null : p99Of(own.program_seconds),
    );
    const [before = null, after = null] = p99s;
    const ratio = before === null || after === null ? null : after / before;
    return [kind, { programs: { p99: { ratio, low: null, high: null, pairs: ab.runs } }, firstToken: {} }] as const;
  });
  const times = {
    programs: ab.program_seconds,
    firstToken: ab.ttft_seconds,
    counts: { programs: leastOf('program_seconds'), calls: leastOf('ttft_seconds') },
    firstTokenP99Seconds: ab.ttft_p99_seconds,
    kinds: Object.fromEntries(kinds),
  };
  return targets.map(({ name, failed }) => ({
    name,
    isOverloaded: over.includes(name),
    isOut: over.length === targets.length,
    failed,
    times,
  }));
}

/** Whether one target kept up, where loads are rates, and its figures. */
function singleText(document: Summarized): string {
  const [target] = document.targets;
  if (target === undefined || target.completed === 0) return 'no program completed';
  if (target.queue_grew === true) return `overloaded, ${number(target.ended_per_second)} a second ended meanwhile`;
  if (!isOpen(document)) return figuresOf(target);
  const isKept = sustains(target, true);
  const unknown = programsToTell([target]) > 0 ? 'too few programs to tell' : 'not known without a baseline';
  return `${isKept === undefined ? unknown : isKept ? 'kept up' : 'did not keep up'}; ${figuresOf(target)}`;
}

function figuresOf(target: Target): string {
  const { program_seconds: program, ttft_seconds: first, failed } = target;
  const [tail, firstTail] = [tailOf([program]), tailOf([first])];
  return [
    `programs ${number(program.mean)} s on average, ${tail} ${number(program[tail])}`,
    `first token p50 ${number(first.p50)} s, ${firstTail} ${number(first[firstTail])}`,
    ...(failed > 0 ? [`${failed} failed${causesText(target)}`] : []),
  ].join('; ');
}

/** Whether a target keeps up with a load, and meets its objectives there; undefined: not known. */
export function isSustained({ document }: Played, at: number): boolean | undefined {
  const target = document.targets[at] as Target;
  const isMissed = document.slo.some(({ met, target: own }) => !met && own === target.name);
  return isMissed ? false : sustains(target, isOpen(document));
}

export const isOpen = ({ settings }: Summarized): boolean => typeof settings['rate_per_second'] === 'number';
