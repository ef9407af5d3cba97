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

function verdictOf(load: Load, document: LoadDocument): PlaceVerdict {
  const { place, report, options } = load;
  const { targets, ab, slo } = document;
  const leastOf = (name: 'program_seconds' | 'ttft_seconds') => Math.min(...targets.map((each) => each[name].count)) / document.runs; // prettier-ignore
  const times = ab && {
    programs: ab.program_seconds,
    firstToken: ab.ttft_seconds,
    counts: { programs: leastOf('program_seconds'), calls: leastOf('ttft_seconds') },
    firstTokenP99Seconds: [targets[0]?.ttft_seconds.p99 ?? null, targets[1]?.ttft_seconds.p99 ?? null] as const,
  };
  const tried = targets.map(({ name, queue_grew, failed, by_workload }) => ({
    name,
    isOverloaded: queue_grew === true,
    failed,
    p99s: Object.fromEntries(Object.entries(by_workload).map(([kind, each]) => [kind, p99Of(each.program_seconds)])),
  }));
  const judged = times && tried.map((each) => ({ ...each, times }));
  const ended = targets.map(({ programs_per_second: rate }) => number(rate === null ? null : rate / options.timeScale));
  const text = isOverloaded(document)
    ? `overloaded, ${ended.join(' and ')} programs a second ended`
    : singleText(load, document);
  const verdict: PlaceVerdict =
    judged === null || isOverloaded(document)
      ? { place, better: [], prices: [], isUnsure: false, sentence: `${place}: ${text}.` }
      : placeVerdict(place, judged, { margin: report.margin, repeated: 'runs', isExact: false });
  const missed = slo
    .filter(({ met }) => !met)
    .map(({ expression, target }) => ` Missed${target === null || ab === null ? '' : ` at ${target}`}: ${expression}.`);
  return { ...verdict, sentence: verdict.sentence + missed.join('') };
}

/** Whether one target kept up, where loads are rates, and its figures. */
function singleText(load: Load, document: LoadDocument): string {
  const [target] = document.targets;
  if (target === undefined || target.completed === 0) return 'no program completed';
  if (load.options.arrivals.type !== 'open') return figuresOf(target);
  const { arrivals_seconds: lasted, alone_seconds: alone } = target;
  if (moreToTell(target) !== undefined)
    return `too few programs to tell: they arrived for ${number(lasted)} s, and one alone takes ${number(alone)} s; ${figuresOf(target)}`;
  if (programsToTell(load, document) > 0) return `too few programs to tell; ${figuresOf(target)}`;
  return `${keepsUp(target) ? 'kept up' : 'did not keep up'}; ${figuresOf(target)}`;
}

/** Room for chance: programs of another run take longer, or arrive sooner. */
const AMPLE = 1.25;

/** Programs of a run that would tell whether a rate is sustained; 0: these do. */
function programsToTell({ options }: Load, { targets, runs }: LoadDocument): number {
  if (options.arrivals.type !== 'open') return 0;
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
 * From which load on the second target is better; of one target, up to which load it keeps up and meets every objective;
 * last, what would tell more.
 */
function conclusionOf(
  loads: readonly Load[],
  documents: readonly LoadDocument[],
  verdicts: readonly PlaceVerdict[],
): string[] {
  const [document] = documents;
  if (document === undefined) return [];
  const rising = isRising(loads.map(({ value }) => value ?? 0));
  const counsel = counselOf(loads, documents, rising);
  if (document.ab === null) return counsel ?? (rising ? sustainedOf(loads, documents, verdicts) : []);
  const served = verdicts.filter((_, at) => documents[at]?.targets.some(keepsUp));
  const names = document.targets.map(({ name }) => name);
  return [breakEvenOf(served, (choice) => names[choice] ?? '', rising ? loads.length : undefined).sentence, ...(counsel ?? [])]; // prettier-ignore
}

/** The number of programs that tells of every load; undefined: all is told. */
function counselOf(loads: readonly Load[], documents: readonly LoadDocument[], rising: boolean): string[] | undefined {
  const top = rising ? documents.findLastIndex(({ targets }) => targets.some(keepsUp)) : -1;
  const open = loads.flatMap((load, at) => {
    const document = documents[at] as LoadDocument;
    const isBelied = at < top && isOverloaded(document);
    const twice = roundUp((2 * Math.max(...document.targets.map(({ programs }) => programs))) / document.runs);
    const programs = Math.max(programsToTell(load, document), isBelied ? twice : 0);
    return programs > 0 ? [{ programs, value: load.value }] : [];
  });
  if (open.length === 0) return undefined;
  const most = Math.max(...open.map(({ programs }) => programs));
  const values = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(open.map(({ value }) => String(value)));
  const limit = loads[0]?.options.durationMs === Infinity ? '' : ', and no --duration';
  return [`Too few programs to tell whether ${values} a second can be sustained: use --programs ${most}${limit}.`];
}

function sustainedOf(
  loads: readonly Load[],
  documents: readonly LoadDocument[],
  verdicts: readonly PlaceVerdict[],
): string[] {
  const isOpen = loads[0]?.options.arrivals.type === 'open';
  if (!isOpen && documents[0]?.slo.length === 0) return [];
  const from = documents.findIndex(({ targets, slo }) => !targets.every(keepsUp) || slo.some(({ met }) => !met));
  const upTo = (at: number) => (verdicts.at(at)?.place ?? '').replace(/^At |^With /, 'up to ');
  const last = from === -1 ? `all ${upTo(-1)}` : from === 0 ? 'none of these loads' : upTo(from - 1);
  const [least = 0, most = 0] = [loads[0]?.value, loads.at(-1)?.value];
  const isLower = from === 0 && documents[0]?.targets.every(({ completed }) => completed > 0) === true;
  const range = from === -1 ? [most, most * BEYOND] : isLower ? [least / BEYOND, least] : [];
  return [`Sustained: ${last}.${tryText(range, isOpen)}`];
}

/** Share of programs that may fail under a load that is sustained. */
const FAILED_SHARE_MAX = 0.01;

const keepsUp = ({ queue_grew, programs, completed, failed }: LoadDocument['targets'][number]): boolean =>
  queue_grew !== true && completed > 0 && failed <= FAILED_SHARE_MAX * programs;

/** How far beyond the loads that were tried to look on. */
const BEYOND = 4;

function tryText(range: readonly number[], isOpen: boolean): string {
  const round = (value: number) => (isOpen ? Number(value.toPrecision(2)) : Math.max(1, Math.round(value)));
  const [from = 0, to = 0] = range.map(round);
  return from < to ? ` Try --${isOpen ? 'rate' : 'concurrency'} ${from}..${to}.` : '';
}
