import {
  breakEvenOf,
  gridLines,
  intervalText,
  isRising,
  p99Of,
  type PlaceVerdict,
  placeVerdict,
  tailOf,
} from '../../lab/index.js';
import {
  figureGrid,
  KEEPS_UP_PROGRAMS_MIN,
  moreToTell,
  writeReport,
  type LoadDocument,
} from '../../loadtest/report/index.js';
import { ConfigError } from '../../sidecar/config/index.js';
import { number, plain } from '../../text/index.js';
import type { Load } from './read-load.js';

export type Play = (load: Load, signal: AbortSignal) => Promise<LoadDocument>;

interface Played {
  readonly load: Load;
  readonly document: LoadDocument;
  readonly verdict: PlaceVerdict;
}

/**
 * Plays loads one after the other: prints a verdict for each when it has ended, and at the end from which of them on the
 * second target is better, or up to which one target sustains them, with a table. A signal ends the sweep.
 */
export async function sweep(loads: readonly Load[], play: Play, signal: AbortSignal): Promise<LoadDocument[]> {
  const [first] = loads as readonly [Load];
  const { json, out, err } = first.report;
  const screen = json === '-' ? err : out;
  screen.write(plain(`${first.title}\n\n`));
  const documents: LoadDocument[] = [];
  const played: Played[] = [];
  // Those of overloads wait for the loads above: one that is sustained belies them.
  const held: Played[] = [];
  const tell = (sentences: readonly string[]) => screen.write(plain(sentences.map((each) => `${each}\n`).join('')));
  let fault: unknown;
  for (const load of loads) {
    let document: LoadDocument;
    try {
      document = await play(load, signal);
    } catch (error) {
      // Earlier loads are reported all the same, and are no error of usage.
      fault = documents.length > 0 && error instanceof ConfigError ? new Error(error.message) : error;
      break;
    }
    documents.push(document);
    if (!document.complete) break;
    const one = { load, document, verdict: verdictOf(load, document) };
    played.push(one);
    if (rises(loads) && (isOverloaded(document) || (held.length > 0 && !isTold(one)))) held.push(one);
    else {
      const isSustained = sustains(one);
      tell(held.splice(0).map((each) => (isSustained && isOverloaded(each.document) ? beliedOf(each) : each.verdict.sentence))); // prettier-ignore
      tell([one.verdict.sentence]);
    }
    const gone = document.targets.find(({ gone_after_seconds: seconds }) => typeof seconds === 'number');
    if (gone === undefined) continue;
    // Further loads would measure how fast calls fail.
    fault = new Error(`${load.place}: ${gone.url} went away`);
    break;
  }
  tell(held.map(({ verdict }) => verdict.sentence));
  if (documents.length > 0) {
    const complete = played.length === loads.length;
    const textOf = (width: number) => textFor(first, documents, played, complete, width);
    await writeReport(first.report, textOf, { version: 1, complete, loads: documents });
  }
  if (fault !== undefined) throw fault as Error;
  return documents;
}

/** The verdict on an overload below a load that is sustained. */
function beliedOf({ document: { targets, ab }, verdict: { place } }: Played): string {
  const figures = ab === null ? targets.map((target) => `; ${figuresOf(target)}`).join('') : '';
  return `${place}: too few programs to tell: the queue grew, but not under a higher load${figures}.`;
}

const isOverloaded = ({ targets }: LoadDocument): boolean => targets.every(({ queue_grew }) => queue_grew === true);
const isTold = ({ load, document }: Played): boolean => programsToTell(load, document) === 0;
const sustains = (one: Played): boolean => isTold(one) && one.document.targets.some(keepsUp);
const rises = (loads: readonly Load[]): boolean => isRising(loads.map(({ value }) => value ?? 0));
const isOpen = ({ options }: Load): boolean => options.arrivals.type === 'open';

const A_SECOND =
  'Programs a second: those completed, over the time until the last had ended, so below the rate in short runs.';

function textFor(
  first: Load,
  documents: readonly LoadDocument[],
  played: readonly Played[],
  complete: boolean,
  width: number,
): string {
  const conclusion = complete ? conclusionOf(played) : ['Stopped before all loads were measured.'];
  const rows = played.flatMap(({ load, document }) =>
    document.targets.map((target) => ({ value: load.value, target })),
  );
  const labels = rows.map(({ value, target }) =>
    first.report.targets.length > 1 ? `${value}  ${target.name}` : String(value),
  );
  const grid = figureGrid(
    rows.map(({ target }) => target),
    [isOpen(first) ? 'rate' : 'at a time', ...labels],
  );
  // One of a kind: their figures differ.
  const warnings = new Map(
    documents.flatMap((each) => each.warnings.map((text) => [text.split(':')[0], `Warning: ${text}`])),
  );
  const hasIntervals = played.some(({ verdict }) => /\d–\d/.test(verdict.sentence));
  const notes = [
    ...warnings.values(),
    ...(hasIntervals ? [intervalText(Math.min(...played.map(({ document }) => document.runs)), 'runs')] : []),
    ...(isOpen(first) ? [A_SECOND] : []),
    'All figures: --json.',
  ];
  return [...conclusion, '', ...gridLines(grid, width), '', ...notes].map((line) => `${line}\n`).join('');
}

function verdictOf(load: Load, document: LoadDocument): PlaceVerdict {
  const { place, report } = load;
  const { ab, slo } = document;
  const verdict: PlaceVerdict =
    ab === null
      ? { place, better: [], prices: [], losses: [], sentence: `${place}: ${singleText(load, document)}.` }
      : placeVerdict(place, triedOf(document, ab), { margin: report.margin, repeated: 'runs', isExact: false });
  const missed = slo
    .filter(({ met }) => !met)
    .map(({ expression, target }) => ` Missed${target === null || ab === null ? '' : ` at ${target}`}: ${expression}.`);
  return { ...verdict, sentence: verdict.sentence + missed.join('') };
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
    return `overloaded, ${number(target?.programs_per_second ?? null)} programs a second ended`;
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
function programsToTell(load: Load, { targets, runs }: LoadDocument): number {
  if (!isOpen(load)) return 0;
  const short = targets.map((target) => ((moreToTell(target) ?? 0) * AMPLE * target.programs) / runs);
  const isFew = targets.some(({ programs }) => programs < KEEPS_UP_PROGRAMS_MIN);
  const most = roundUp(Math.max(...short));
  return most === 0 && !isFew ? 0 : Math.max(KEEPS_UP_PROGRAMS_MIN, most);
}

const roundUp = (programs: number): number => Math.ceil(programs / 10) * 10;

function figuresOf(target: LoadDocument['targets'][number]): string {
  const { program_seconds: program, ttft_seconds: first, failed } = target;
  const [tail, firstTail] = [tailOf([program]), tailOf([first])];
  return [
    `programs ${number(program.mean)} s on average, ${tail} ${number(program[tail])}`,
    `first token p50 ${number(first.p50)} s, ${firstTail} ${number(first[firstTail])}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
  ].join('; ');
}

/**
 * From which load on the second target is better, of those that one of both sustains; of one target, up to which load it
 * keeps up and meets every objective; last, what would tell more.
 */
function conclusionOf(played: readonly Played[]): string[] {
  const rising = rises(played.map(({ load }) => load));
  const counsel = counselOf(played, rising);
  const [{ document }] = played as readonly [Played];
  if (document.ab === null) return counsel ?? (rising ? sustainedOf(played) : []);
  const served = played.filter((each) => each.document.targets.some(keepsUp)).map(({ verdict }) => verdict);
  const nameOf = (choice: number) => document.targets[choice]?.name ?? '';
  return [breakEvenOf(served, nameOf, rising ? played.length : undefined).sentence, ...(counsel ?? [])];
}

/** The number of programs that tells of every load; undefined: all is told. */
function counselOf(played: readonly Played[], rising: boolean): string[] | undefined {
  const top = rising ? played.findLastIndex(sustains) : -1;
  // Nothing is sustained above an overload.
  const overload = played.findIndex(({ document }, at) => rising && at > top && isOverloaded(document));
  const open = played.slice(0, overload === -1 ? undefined : overload).flatMap(({ load, document }, at) => {
    const isBelied = at < top && isOverloaded(document);
    const twice = roundUp((2 * Math.max(...document.targets.map(({ programs }) => programs))) / document.runs);
    const programs = Math.max(programsToTell(load, document), isBelied ? twice : 0);
    return programs > 0 ? [{ programs, value: load.value }] : [];
  });
  if (open.length === 0) return undefined;
  const most = Math.max(...open.map(({ programs }) => programs));
  const values = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(open.map(({ value }) => String(value)));
  const limit = played[0]?.load.options.durationMs === Infinity ? '' : ', and no --duration';
  return [`Too few programs to tell whether ${values} a second can be sustained: use --programs ${most}${limit}.`];
}

function sustainedOf(played: readonly Played[]): string[] {
  const [first] = played as [Played];
  if (!isOpen(first.load) && first.document.slo.length === 0) return [];
  const from = played.findIndex(({ document: { targets, slo } }) => !targets.every(keepsUp) || slo.some(({ met }) => !met)); // prettier-ignore
  const upTo = (at: number) => (played.at(at)?.verdict.place ?? '').replace(/^At |^With /, 'up to ');
  const told = from === -1 ? `all ${upTo(-1)}` : from === 0 ? 'none of these loads' : upTo(from - 1);
  const values = played.map(({ load }) => load.value ?? 0);
  const at = from === -1 ? played.length : from;
  const [low = 0, high = 0] = [(values[0] ?? 0) / BEYOND, ...values, BEYOND * (values.at(-1) ?? 0)].slice(at);
  const isTold = high > FAR * low && played[at]?.document.targets.every(({ completed }) => completed > 0) !== false;
  return [`Sustained: ${told}.${isTold ? tryText(low, high, isOpen(first.load)) : ''}`];
}

/** Share of programs that may fail under a load that is sustained. */
const FAILED_SHARE_MAX = 0.01;

const keepsUp = ({ queue_grew, programs, completed, failed }: LoadDocument['targets'][number]): boolean =>
  queue_grew !== true && completed > 0 && failed <= FAILED_SHARE_MAX * programs;

/** How far beyond the loads that were tried to look on. */
const BEYOND = 4;
/** How far apart to look between those that were tried. */
const FAR = 1.5;

function tryText(low: number, high: number, isRate: boolean): string {
  const round = (value: number) => (isRate ? Number(value.toPrecision(2)) : Math.max(1, Math.round(value)));
  const [from, to] = [round(low), round(high)];
  return to - from > Number(!isRate) ? ` Try --${isRate ? 'rate' : 'concurrency'} ${from}..${to}.` : '';
}
