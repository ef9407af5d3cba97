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
import { number, plain } from '../../text/index.js';
import type { Load } from './read-load.js';

/** Plays a load, and measures it. */
export type Play = (load: Load, signal: AbortSignal) => Promise<LoadDocument>;

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
  const verdicts: PlaceVerdict[] = [];
  // Those of overloads wait for the loads above: one that is sustained belies them.
  const rising = isRising(loads.map(({ value }) => value ?? 0));
  const held: PlaceVerdict[] = [];
  const tell = (sentences: readonly string[]) => screen.write(plain(sentences.map((each) => `${each}\n`).join('')));
  let fault: unknown;
  for (const load of loads) {
    try {
      documents.push(await play(load, signal));
    } catch (error) {
      // Earlier loads are reported all the same.
      fault = error;
      break;
    }
    const document = documents.at(-1) as LoadDocument;
    if (!document.complete) break;
    const verdict = verdictOf(load, document);
    verdicts.push(verdict);
    if (rising && isOverloaded(document)) {
      held.push(verdict);
      continue;
    }
    tell(held.splice(0).map(({ place, sentence }) => (document.targets.some(keepsUp) ? `${place}: ${BELIED}` : sentence))); // prettier-ignore
    tell([verdict.sentence]);
  }
  tell(held.map(({ sentence }) => sentence));
  if (documents.length > 0) await writeReport(first.report, ...reportOf(loads, documents, verdicts));
  if (fault !== undefined) throw fault as Error;
  return documents;
}

const BELIED = 'too few programs to tell: the queue grew, but not under a higher load.';

const isOverloaded = ({ targets }: LoadDocument): boolean => targets.every(({ queue_grew }) => queue_grew === true);

const A_SECOND =
  'Programs a second: those completed, over the time until the last had ended, so below the rate in short runs.';

/** The conclusion with a table, by the width, and the document. */
function reportOf(
  loads: readonly Load[],
  documents: readonly LoadDocument[],
  verdicts: readonly PlaceVerdict[],
): [textOf: (width: number) => string, document: object] {
  const [first] = loads as readonly [Load];
  const whole = documents.filter(({ complete }) => complete);
  const complete = whole.length === loads.length;
  const conclusion = complete ? conclusionOf(loads, whole, verdicts) : ['Stopped before all loads were measured.'];
  const rows = loads.flatMap(({ value }, at) => (whole[at]?.targets ?? []).map((target) => ({ value, target })));
  const labels = rows.map(({ value, target }) =>
    first.report.targets.length > 1 ? `${value}  ${target.name}` : String(value),
  );
  const grid = figureGrid(
    rows.map(({ target }) => target),
    [first.options.arrivals.type === 'open' ? 'rate' : 'at a time', ...labels],
  );
  const runs = Math.min(...whole.map((each) => each.runs));
  // One of a kind: their figures differ.
  const warnings = new Map(
    documents.flatMap((each) => each.warnings.map((text) => [text.split(':')[0], `Warning: ${text}`])),
  );
  const notes = [
    ...warnings.values(),
    ...(whole.some(({ ab }) => ab !== null) ? [intervalText(runs, 'runs')] : []),
    ...(first.options.arrivals.type === 'open' ? [A_SECOND] : []),
    'All figures: --json.',
  ];
  const text = (width: number) =>
    [...conclusion, '', ...gridLines(grid, width), '', ...notes].map((line) => `${line}\n`).join('');
  return [text, { version: 1, complete, loads: documents }];
}

function verdictOf({ place, report, options }: Load, { targets, ab, slo, runs }: LoadDocument): PlaceVerdict {
  const tried = targets.map(({ name, queue_grew, failed, by_workload }) => ({
    name,
    ratio: ab?.program_seconds.mean ?? { ratio: null, low: null, high: null, pairs: 0 },
    isOut: queue_grew === true,
    failed,
    p99s: Object.fromEntries(
      Object.entries(by_workload).map(([kind, { program_seconds }]) => [kind, p99Of(program_seconds)]),
    ),
  }));
  const terms = { margin: report.margin, repeated: 'runs', isExact: false };
  const verdict = tried.every(({ isOut }) => isOut)
    ? {
        place,
        better: [],
        sentence: `${place}: overloaded, ${targets.map(({ programs_per_second }) => number(programs_per_second === null ? null : programs_per_second / options.timeScale)).join(' and ')} programs a second ended.`,
      }
    : ab === null
      ? { place, better: [], sentence: `${place}: ${figuresOf(targets[0])}.` }
      : placeVerdict(place, tried, terms);
  const missed = slo
    .filter(({ met }) => !met)
    .map(({ expression, target }) => ` Missed${target === null || ab === null ? '' : ` at ${target}`}: ${expression}.`);
  const short = options.arrivals.type === 'open' ? tooShort(targets, runs) : undefined;
  const untold = short === undefined ? '' : ` Too short to tell whether it is overloaded: ${short}`;
  return { ...verdict, sentence: verdict.sentence + missed.join('') + untold };
}

/** Why nobody can tell whether the queue grew, and how many programs would tell; undefined: it can be told. */
function tooShort(targets: LoadDocument['targets'], runs: number): string | undefined {
  const more = Math.max(...targets.map((target) => moreToTell(target) ?? 0));
  const target = targets.find((each) => moreToTell(each) === more);
  if (target === undefined) return undefined;
  const { arrivals_seconds: lasted, alone_seconds: alone, programs } = target;
  const enough = Math.max(KEEPS_UP_PROGRAMS_MIN, Math.ceil((1.1 * more * programs) / runs / 10) * 10);
  return `arrivals lasted ${number(lasted)} s, a program alone takes ${number(alone)} s; use --programs ${enough}.`;
}

function figuresOf(target: LoadDocument['targets'][number] | undefined): string {
  if (target === undefined || target.completed === 0) return 'no program completed';
  const { program_seconds: program, ttft_seconds: first, failed } = target;
  const [tail, firstTail] = [tailOf([program]), tailOf([first])];
  return [
    `programs ${number(program.mean)} s on average, ${tail} ${number(program[tail])}`,
    `first token p50 ${number(first.p50)} s, ${firstTail} ${number(first[firstTail])}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
  ].join('; ');
}

/** From which load on the second target is better; of one target, up to which load it keeps up and meets every objective. */
function conclusionOf(
  loads: readonly Load[],
  documents: readonly LoadDocument[],
  verdicts: readonly PlaceVerdict[],
): string[] {
  const [document] = documents;
  if (document === undefined) return [];
  const rising = isRising(loads.map(({ value }) => value ?? 0));
  if (document.ab !== null) {
    const served = verdicts.filter((_, at) => documents[at]?.targets.some(keepsUp));
    const names = document.targets.map(({ name }) => name);
    return [breakEvenOf(served, (choice) => names[choice] ?? '', rising ? loads.length : undefined).sentence];
  }
  const isOpen = loads[0]?.options.arrivals.type === 'open';
  if (!rising || (!isOpen && document.slo.length === 0)) return [];
  if (isOpen && documents.some(({ targets }) => targets.some(({ programs }) => programs < KEEPS_UP_PROGRAMS_MIN)))
    return [
      `Sustained: too few programs to tell; each load needs ${KEEPS_UP_PROGRAMS_MIN}, such as --programs ${KEEPS_UP_PROGRAMS_MIN}.`,
    ];
  const short = isOpen ? documents.map(({ targets, runs: of }) => tooShort(targets, of)).findLast((each) => each) : undefined; // prettier-ignore
  if (short !== undefined) return [`Sustained: too short to tell; ${short}`];
  const top = documents.findLastIndex(({ targets }) => targets.every(keepsUp));
  const belied = loads.filter((_, at) => at < top && documents.slice(at, at + 1).some(isOverloaded));
  if (belied.length > 0) {
    const most = Math.max(...documents.flatMap(({ targets, runs }) => targets.map(({ programs }) => programs / runs)));
    return [`Sustained: too few programs to tell: the queue grew at ${belied.map(({ value }) => value).join(' and ')} a second, but not at ${loads[top]?.value}; use --programs ${Math.ceil((2 * most) / 10) * 10}.`]; // prettier-ignore
  }
  const from = documents.findIndex(({ targets, slo }) => !targets.every(keepsUp) || slo.some(({ met }) => !met));
  const upTo = (at: number) => (verdicts.at(at)?.place ?? '').replace(/^At |^With /, 'up to ');
  const last = from === -1 ? `all ${upTo(-1)}` : from === 0 ? 'none of these loads' : upTo(from - 1);
  const [least = 0, most = 0] = [loads[0]?.value, loads.at(-1)?.value];
  const isLower = from === 0 && document.targets.every(({ completed }) => completed > 0);
  const range = from === -1 ? [most, most * BEYOND] : isLower ? [least / BEYOND, least] : [];
  return [`Sustained: ${last}.${tryText(range, isOpen)}`];
}

/** Share of programs that may fail under a load that is sustained. */
const FAILED_SHARE_MAX = 0.01;

const keepsUp = ({ queue_grew, programs, completed, failed }: LoadDocument['targets'][number]): boolean =>
  queue_grew !== true && completed > 0 && failed <= FAILED_SHARE_MAX * programs;

/** How far beyond the loads that were tried to look on. */
const BEYOND = 4;

/** A range of loads, in words; '' if there is none. */
function tryText(range: readonly number[], isOpen: boolean): string {
  const round = (value: number) => (isOpen ? Number(value.toPrecision(2)) : Math.max(1, Math.round(value)));
  const [from = 0, to = 0] = range.map(round);
  return from < to ? ` Try --${isOpen ? 'rate' : 'concurrency'} ${from}..${to}.` : '';
}
