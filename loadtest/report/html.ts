import {
  callout,
  type Distribution,
  figures,
  folded,
  html,
  type Markup,
  page,
  paragraph,
  section,
  type Statistic,
  statisticsOf,
  tailOf,
  table,
  type Table,
  tiles,
} from '../../lab/index.js';
import { counted, integer, number, percent, rate, time } from '../../text/index.js';
// prettier-ignore
import { distributionFigures, laneSection, sizeFigures } from './charts.js';
import type { LoadDocument } from './document.js';
import type { Lanes } from './lanes.js';
import {
  errorExamples,
  errorRows,
  isNoneCompleted,
  NONE_COMPLETED,
  sizeRows,
  splitRows,
  targetText,
  workloadRows,
  type Rows,
} from './rows.js';
import {
  adviceOf,
  intervalsText,
  RATIO_STATISTICS,
  ratioName,
  RATIOS,
  ratioText,
  sloText,
  type Summarized,
} from './summary.js';
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
export async function htmlOf(source: PageSource): Promise<string> {
  const { title, document } = source;
  const { targets, complete, elapsed_seconds } = document;
  const errors = errorRows(targets);
  return page({
    title: 'Load test',
    subtitle: `${title}. ${complete ? 'Ran' : 'Stopped after'} ${number(elapsed_seconds)} s.`,
    content: [
      ...findings(document),
      paragraph(targetLines(targets)),
      ...(isNoneCompleted(targets) ? [paragraph(NONE_COMPLETED)] : [tiles(tilesOf(targets)), whereTime(targets)]),
      await laneSection(source.targets, source.lanes),
      ...(isNoneCompleted(targets) ? [] : await results(source)),
      ...(errors.rows.length > 0 ? [section('What failed', table(asTable('Calls by class of error', errors)), ...errorExamples(targets).map((line) => paragraph([`First ${line}`])), cancelled(targets))] : []), // prettier-ignore
      section(
        'How it was measured',
        table(generatorTable(document)),
        folded('Settings', table(settingsTable(document))),
      ),
    ],
    foot: `Made by maitred load, begun ${document.started_at}.`,
  });
}

async function results(source: PageSource): Promise<Markup[]> {
  const { document } = source;
  const { targets } = document;
  const many = workloadRows(targets);
  return [
    section('How long it takes', figures(await distributionFigures(source.targets))),
    section('By program size', figures(await sizeFigures(targets)), table(asTable('Quarters of the programs by prompt and output tokens', sizeRows(targets)))), // prettier-ignore
    section('All results', table(resultTable(targets)), ...comparison(document)),
    ...(many.rows.length > 0 ? [section('By workload', table(asTable('Kinds of programs', many)))] : []),
  ];
}

/** The page of two runs that were made one after the other. @param title names of both */
export function comparisonHtmlOf(title: string, compared: Summarized): Promise<string> {
  const { targets } = compared;
  return sizeFigures(targets).then((sizes) =>
    page({
      title: 'Load tests compared',
      subtitle: `${title}.`,
      content: [
        ...findings(compared),
        paragraph(targetLines(targets)),
        tiles(tilesOf(targets)),
        whereTime(targets),
        section('By program size', figures(sizes), table(asTable('Quarters of the programs by prompt and output tokens', sizeRows(targets)))), // prettier-ignore
        section('All results', table(resultTable(targets)), ...ratios(compared)),
        section('How it was measured', folded('Settings', table(settingsTable(compared)))),
      ],
      foot: 'Made by maitred load compare.',
    }),
  );
}

function findings(document: Summarized): Markup[] {
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

const METRICS: readonly (readonly [string, (target: TargetReport) => Distribution, number])[] = [
  ['Program, s', (target) => target.program_seconds, 1],
  ['Slowdown', (target) => target.slowdown, 1],
  ['Time to first token, s', (target) => target.ttft_seconds, 1],
  ['Between tokens, ms', (target) => target.inter_token_seconds, 1000],
  ['Call in gateway queue, s', (target) => target.queue_seconds, 1],
  ['Program an output token, ms', (target) => target.seconds_per_token, 1000],
];

function resultTable(targets: readonly TargetReport[]): Table {
  const statistics = ['mean', 'p50', 'p95', 'p99', 'max'] as const;
  const groups = targets.map(({ name }) => ({ heading: targets.length > 1 ? name : '', columns: statistics }));
  const rows = METRICS.map(([name, of, scale]) => [
    name,
    ...targets.flatMap((target) =>
      statistics.map((statistic) => (isToldOf(of(target), statistic) ? scaled(of(target)[statistic], scale) : '')),
    ),
  ]);
  return { caption: 'Of programs and calls that completed', columns: ['', ...groups.flatMap(({ columns }) => columns)], groups, rows }; // prettier-ignore
}

/** Few values have no p95 or p99 of their own: the maximum is beside them. */
const isToldOf = (distribution: Distribution, statistic: Statistic): boolean =>
  statistic === 'max' || statisticsOf([distribution]).includes(statistic);

const scaled = (value: number | null, scale: number): string => number(value === null ? null : value * scale);

function comparison({ ab, targets }: LoadDocument): Markup[] {
  if (ab === null) return [];
  return [
    table({
      caption: `${ratioName(targets)}; ${integer(ab.pairs)} pairs of programs, ${integer(ab.left_out)} left out. ${intervalsText(ab)}`,
      ...ratioTable(ab),
    }),
  ];
}

function ratios({ ab, targets }: Summarized): Markup[] {
  return ab === null ? [] : [table({ caption: `${ratioName(targets)}. ${intervalsText(ab)}`, ...ratioTable(ab) })];
}

const ratioTable = (ab: NonNullable<Summarized['ab']>) => ({
  columns: ['times', ...RATIO_STATISTICS],
  rows: RATIOS.map(([name, of]) => [name, ...RATIO_STATISTICS.map((statistic) => ratioText(of(ab)[statistic]))]),
});

/** The cause of a difference: queue, engine or tools, and what the cache saved. */
const whereTime = (targets: readonly TargetReport[]): Markup =>
  section(
    'Where the time went',
    table(asTable('Mean seconds of a program, along its critical path', splitRows(targets))),
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

const asTable = (caption: string, { groups, rows }: Rows): Table => ({
  caption,
  columns: ['', ...groups.flatMap(({ columns }) => columns)],
  groups,
  rows,
});

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
