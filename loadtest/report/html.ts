import {
  callout,
  type Distribution,
  figures,
  folded,
  type Grid,
  gridTable,
  html,
  intervalText,
  type Markup,
  page,
  paragraph,
  section,
  tailOf,
  table,
  type Table,
  tiles,
} from '../../lab/index.js';
import { counted, integer, number, percent, rate, time } from '../../text/index.js';
import { distributionFigures, laneSection, sizeFigures } from './charts.js';
import type { LoadDocument } from './document.js';
import {
  errorExamples,
  errorGrid,
  figureGrids,
  isNoneCompleted,
  NONE_COMPLETED,
  ratioGrid,
  baselineLines,
  sizeGrid,
  splitGrid,
  targetText,
  workloadGrid,
} from './grids.js';
import type { Lanes } from './lanes.js';
import { adviceOf, sloText } from './summary.js';
import { cachedShare, type Target, type TargetReport } from './target.js';

/** Source of the page: the document, and data that no document holds. */
export interface PageSource {
  /** The run, in a line. */
  readonly title: string;
  readonly document: LoadDocument;
  readonly targets: readonly Target[];
  readonly lanes: Lanes;
}

/** The document as one self-contained page. Its size does not grow with the number of calls. */
export async function htmlOf({ title, document, targets, lanes }: PageSource): Promise<string> {
  const { targets: reports, complete, elapsed_seconds } = document;
  const distributions = isNoneCompleted(reports) ? [] : await distributionFigures(targets);
  return page({
    title: 'Load test',
    subtitle: `${title}. ${complete ? 'Ran' : 'Stopped after'} ${number(elapsed_seconds)} s.`,
    content: [
      ...findings(document),
      paragraph(targetLines(reports)),
      ...(isNoneCompleted(reports) ? [paragraph(NONE_COMPLETED)] : [tiles(tilesOf(reports)), whereTime(reports)]),
      await laneSection(targets, lanes),
      ...(distributions.length > 0 ? [section('How long it takes', figures(distributions))] : []),
      ...(await results(document)),
      ...failures(reports),
      section(
        'How it was measured',
        ...baselineLines(reports).map((line) => paragraph([line])),
        table(generatorTable(document)),
        folded('Settings', table(settingsTable(document))),
      ),
    ],
    foot: `Made by maitred load, begun ${document.started_at}.`,
  });
}

async function results({ targets, ab }: LoadDocument): Promise<Markup[]> {
  if (isNoneCompleted(targets)) return [];
  const kinds = workloadGrid(targets);
  const ratios = ab === null ? [] : [ratioGrid(ab, targets)];
  return [
    section('By program size', figures(await sizeFigures(targets)), shown('Quarters of the programs by prompt and output tokens', sizeGrid(targets))), // prettier-ignore
    section(
      'All results',
      ...figureGrids(targets).map((grid) => shown('Of programs and calls that completed', grid)),
      ...ratios.map((grid) => shown(`${grid.corner}. ${intervalText(ab?.runs ?? 0, 'runs')}`, grid)),
    ),
    ...(kinds.rows.length > 0 ? [section('By workload', shown('Kinds of programs', kinds))] : []),
  ];
}

function failures(targets: readonly TargetReport[]): Markup[] {
  const errors = errorGrid(targets);
  if (errors.rows.length === 0) return [];
  const examples = errorExamples(targets).map((line) => paragraph([`First ${line}`]));
  return [section('What failed', shown('Calls by class of error', errors), ...examples, cancelled(targets))];
}

const shown = (caption: string, grid: Grid): Markup => table(gridTable(caption, grid));

function findings(document: LoadDocument): Markup[] {
  const { ab, slo, warnings, targets, complete } = document;
  return [
    ...(ab === null ? [] : [callout('finding', ab.outcome)]),
    ...slo.map((result) => callout(result.met ? 'good' : 'bad', [html`<strong aria-hidden="true">${result.met ? '✓' : '✗'}</strong> `, sloText(result, targets.length > 1, complete)])), // prettier-ignore
    ...[...adviceOf(document), ...warnings].map((warning) => callout('warning', warning)),
  ];
}

function tilesOf(targets: readonly TargetReport[]) {
  const each = (of: (target: TargetReport) => number | null, show = number) =>
    targets.map((target) => show(of(target)).replaceAll(' ', '\u00a0')).join('\u00a0| ');
  const two = targets.length > 1 ? `: ${targets.map(({ name }) => name).join(' | ')}` : '';
  const tail = (of: (target: TargetReport) => Distribution) => {
    const name = tailOf(targets.map(of));
    return `${name} ${each((target) => of(target)[name], time)}`;
  };
  return [
    { name: `Program, mean${two}`, value: each((target) => target.program_seconds.mean, time), note: tail((target) => target.program_seconds) }, // prettier-ignore
    { name: `First token, median${two}`, value: each((target) => target.ttft_seconds.p50, time), note: tail((target) => target.ttft_seconds) }, // prettier-ignore
    { name: `Prompts cached${two}`, value: each(cachedShare, percent), note: 'of prompt tokens' }, // prettier-ignore
    { name: `Slowdown, mean${two}`, value: each((target) => target.slowdown.mean), note: `Jain’s index ${each((target) => target.jain_index)}` }, // prettier-ignore
    { name: `Output tokens a second${two}`, value: each((target) => target.output_tokens_per_second), note: `programs ${each((target) => target.programs_per_second, rate)}` }, // prettier-ignore
    { name: `Programs failed${two}`, value: each((target) => target.failed), note: `of ${each((target) => target.programs)}` }, // prettier-ignore
  ];
}

const targetLines = (targets: readonly TargetReport[]): Markup[] =>
  targets.map((target, index) => {
    const ended = `${counted(target.programs, 'program')}, ${counted(target.calls, 'call')}`;
    return html`${index > 0 ? html`<br>` : ''}<strong>${target.name}</strong> ${targetText(target)}: ${ended}`; // prettier-ignore
  });

/** The cause of a difference: queue, engine or tools, and what the cache saved. */
const whereTime = (targets: readonly TargetReport[]): Markup =>
  section(
    'Where the time went',
    shown('Mean seconds of a program, along its critical path', splitGrid(targets)),
    paragraph(`Prompt tokens from the engine’s cache: ${targets.map((target) => `${target.name} ${percent(cachedShare(target))}`).join(', ')}.`), // prettier-ignore
    waits(targets),
  );

const waits = (targets: readonly TargetReport[]): Markup =>
  paragraph(
    targets.flatMap(
      ({ name, worst_waiting }) =>
      worst_waiting === null ? [] : [`The longest wait of one call at ${name} was ${time(worst_waiting.seconds)}, of ${worst_waiting.program}. `], // prettier-ignore
    ),
  );

const cancelled = (targets: readonly TargetReport[]): Markup =>
  paragraph(targets.map(({ name, calls_cancelled }) => `At ${name}, ${integer(calls_cancelled)} calls were never made because one before them failed. `)); // prettier-ignore

const settingsTable = ({ settings }: Pick<LoadDocument, 'settings'>): Table => ({
  caption: 'Settings',
  columns: ['setting', 'value'],
  rows: Object.entries(settings).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
});

function generatorTable({ generator, targets }: LoadDocument): Table {
  const { cpu_share, cpu_ms_per_call, calls_in_flight_max, loop_lag_ms, late_send_ms } = generator;
  return {
    caption: 'The load tester itself',
    columns: ['measure', 'value'],
    rows: [
      ['Sent later than meant, ms: mean / p99 / max', [late_send_ms.mean, late_send_ms.p99, late_send_ms.max].map(number).join(' / ')], // prettier-ignore
      ['Event loop lag, ms: mean / p99 / max', [loop_lag_ms.mean, loop_lag_ms.p99, loop_lag_ms.max].map(number).join(' / ')], // prettier-ignore
      ['Processor time, of one core', percent(cpu_share)],
      ['Processor time a call, ms', number(cpu_ms_per_call)],
      ['Calls in flight, at most', integer(calls_in_flight_max)],
      ...targets.map(({ name, tokenizer, prompt_tokens_wanted, prompt_tokens_counted }) => [
        `Prompt tokens at ${name}: wanted / counted there`,
        `${integer(prompt_tokens_wanted)} / ${integer(prompt_tokens_counted)}${tokenizer === null ? '' : ` (${tokenizer})`}`,
      ]),
    ],
  };
}
