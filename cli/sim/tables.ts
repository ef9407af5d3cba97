import { type Distribution, integer, number, percent, ratio, type Ratio, textTable } from '../../lab/index.js';
import { isOf, type PrintedRun, type SimDocument, type VariantRatios } from './document.js';

/** A figure of a run, and its format. For several seeds, their mean is shown. */
interface Column {
  readonly heading: string;
  readonly of: (run: PrintedRun) => number | null;
  readonly show?: (value: number | null) => string;
}

interface Group {
  readonly heading: string;
  readonly columns: readonly Column[];
}

type Labelled = Readonly<Record<'policy' | 'balancer', string>>;
type Statistic = 'mean' | 'p50' | 'p95' | 'p99';

const spread = (
  of: (run: PrintedRun) => Distribution,
  scale = 1,
  statistics: readonly Statistic[] = ['mean', 'p50', 'p95', 'p99'],
): Column[] => statistics.map((heading) => ({ heading, of: (run) => times(of(run)[heading], scale) }));

const quarters = (statistic: Statistic): Column[] =>
  ['1st', '2nd', '3rd', '4th'].map((heading, quarter) => ({
    heading,
    of: (run) => run.by_size[quarter]?.slowdown[statistic] ?? null,
  }));

const times = (value: number | null, scale: number): number | null => (value === null ? null : value * scale);

/** One table each. */
const TABLES: readonly (readonly Group[])[] = [
  [
    { heading: 'ms per output token', columns: spread((run) => run.seconds_per_token, 1000) },
    { heading: 'program, s', columns: spread((run) => run.program_seconds) },
    {
      heading: '',
      columns: [
        { heading: 'lost', of: (run) => run.lost, show: integer },
        { heading: 'refused', of: (run) => total(run.refused), show: integer },
        { heading: 'retried', of: (run) => total(run.retries), show: integer },
      ],
    },
  ],
  [
    { heading: 'call to first token, s', columns: spread((run) => run.ttft_seconds) },
    { heading: 'call in queue, s', columns: spread((run) => run.queue_seconds) },
  ],
  [
    { heading: 'slowdown', columns: spread((run) => run.slowdown, 1, ['mean', 'p99']) },
    { heading: 'mean, by quarters of size', columns: quarters('mean') },
    { heading: 'p99, by quarters of size', columns: quarters('p99') },
    { heading: '', columns: [{ heading: 'Jain', of: (run) => run.jain_index }] },
  ],
  [
    {
      heading: 'a second',
      columns: [
        { heading: 'programs', of: (run) => run.programs_per_second },
        { heading: 'calls', of: (run) => run.calls_per_second },
        { heading: 'tokens', of: (run) => run.output_tokens_per_second },
      ],
    },
    {
      heading: 'engines',
      columns: [
        { heading: 'busy', of: (run) => run.engine_busy, show: percent },
        { heading: 'KV used', of: (run) => run.kv_use, show: percent },
        { heading: 'hits', of: (run) => run.prefix_hit_rate, show: percent },
        { heading: 'preempted', of: (run) => run.preemptions, show: integer },
      ],
    },
    {
      heading: '',
      columns: [
        { heading: 'promoted', of: (run) => run.starvation_promotions, show: integer },
        { heading: 'failed', of: (run) => run.failed, show: integer },
        { heading: 'makespan, s', of: (run) => run.makespan_seconds },
      ],
    },
  ],
];

/**
 * The document for people: tables, and lines for rare facts.
 * @param width of the tables, in characters
 */
export function tablesOf(document: SimDocument, width: number): string {
  const { runs, settings, ratios, complete } = document;
  const label = ({ policy, balancer }: Labelled) => (settings.balancers.length > 1 ? `${policy}, ${balancer}` : policy);
  const variants = settings.policies
    .flatMap((policy) => settings.balancers.map((balancer) => ({ policy, balancer })))
    .map((variant) => ({ label: label(variant), runs: runs.filter((run) => isOf(run, variant)) }))
    .filter((variant) => variant.runs.length > 0);
  const corner = label({ policy: 'policy', balancer: 'balancer' });
  const blocks = [
    [titleOf(document)],
    ...[...TABLES, kindsOf(runs)].map((groups) =>
      textTable(
        corner,
        groups.map(({ heading, columns }) => ({ heading, columns: columns.map((column) => column.heading) })),
        variants.map((variant) => [
          variant.label,
          ...groups.flatMap(({ columns }) => columns.map(({ of, show = number }) => show(mean(variant.runs.map(of))))),
        ]),
        width,
      ),
    ),
    variants.flatMap((variant) => worstWait(variant.label, variant.runs)),
    refusals(runs),
    ratioTable(ratios, label, width),
    complete ? [] : ['Stopped: some runs are missing or not whole; ratios are of whole ones.'],
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** A group of columns for each kind of program of a mixture. */
function kindsOf(runs: readonly PrintedRun[]): Group[] {
  const kinds = [...new Set(runs.flatMap(({ by_workload }) => Object.keys(by_workload)))].sort();
  if (kinds.length < 2) return [];
  return kinds.map((kind) => ({
    heading: kind,
    columns: [
      { heading: 'ms/token', of: (run) => times(run.by_workload[kind]?.seconds_per_token.mean ?? null, 1000) },
      { heading: 'mean, s', of: (run) => run.by_workload[kind]?.program_seconds.mean ?? null },
      { heading: 'p99, s', of: (run) => run.by_workload[kind]?.program_seconds.p99 ?? null },
    ],
  }));
}

function titleOf({ settings, runs }: SimDocument): string {
  const { workload, trace, arrivals, engines, preset, seeds } = settings;
  const programs = Math.max(0, ...runs.map((run) => run.programs));
  const what = `${workload ?? trace ?? ''}: ${integer(programs)} programs ${arrivalsText(arrivals)}`;
  const seedText = seeds.length === 1 ? `seed ${seeds.join()}` : `means over seeds ${seeds.join(', ')}`;
  return `${what}, ${engines} x ${preset}, ${seedText}`;
}

function arrivalsText(arrivals: SimDocument['settings']['arrivals']): string {
  if (arrivals.type === 'closed') return `${arrivals.concurrency} at a time`;
  if (arrivals.type === 'trace') return 'when the recording says';
  return `at ${arrivals.rate_per_second} a second${arrivals.cv === 1 ? '' : ` (cv ${arrivals.cv})`}`;
}

/** The program with the longest wait, over all seeds. */
function worstWait(label: string, runs: readonly PrintedRun[]): string[] {
  const waits = runs.flatMap(({ worst_waiting }) => worst_waiting ?? []);
  const worst = waits.toSorted((a, b) => b.seconds - a.seconds)[0];
  return worst === undefined ? [] : [`Longest wait under ${label}: ${number(worst.seconds)} s, of ${worst.program}`];
}

function refusals(runs: readonly PrintedRun[]): string[] {
  const codes = [...new Set(runs.flatMap(({ refused }) => Object.keys(refused)))].sort();
  return codes.map((code) => {
    const counts = runs.map(({ refused }) => refused[code] ?? 0);
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    return `Refused calls, ${code}: ${least === most ? '' : `${integer(least)} to `}${integer(most)} a run`;
  });
}

function ratioTable(ratios: readonly VariantRatios[], label: (variant: Labelled) => string, width: number): string[] {
  const [first] = ratios;
  if (first === undefined) return [];
  const of = (each: Ratio): string =>
    ratio(each.ratio) + (each.low === null ? '' : ` (${ratio(each.low)}–${ratio(each.high)})`);
  const columns = ['mean', 'p99'] as const;
  const table = textTable(
    `times ${label(first.against)}`,
    [
      { heading: 'per output token', columns },
      { heading: 'program', columns },
      { heading: '', columns: ['makespan'] },
    ],
    ratios.map((each) => [
      label(each),
      ...[each.seconds_per_token, each.program_seconds].flatMap((two) => columns.map((name) => of(two[name]))),
      of(each.makespan_seconds),
    ]),
    width,
  );
  const pairs = first.program_seconds.mean.pairs;
  return [
    ...table,
    pairs > 1 ? `In brackets: 95 % confidence over ${pairs} seeds.` : 'No confidence interval: it takes several seeds.',
  ];
}

/** Mean of the known values; null without any. */
function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
