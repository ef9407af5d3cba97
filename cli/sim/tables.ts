import {
  type Distribution,
  integer,
  number,
  percent,
  ratio,
  type Ratio,
  statisticsOf,
  tailOf,
  textTable,
} from '../../lab/index.js';
import { meanOf, type PrintedRun, type SimDocument } from './document.js';
import { isOf, nameOf, type Variant } from './plan.js';

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

const spread = (
  runs: readonly PrintedRun[],
  of: (run: PrintedRun) => Distribution,
  scale = 1,
  statistics = statisticsOf(runs.map(of)),
): Column[] => statistics.map((heading) => ({ heading, of: (run) => times(of(run)[heading], scale) }));

function quarters(runs: readonly PrintedRun[]): Group[] {
  const statistics = ['mean', tailOf(runs.flatMap(({ by_size }) => by_size.map(({ slowdown }) => slowdown)))] as const;
  return statistics.map((statistic) => ({
    heading: `${statistic}, by quarters of size`,
    columns: ['1st', '2nd', '3rd', '4th'].map((heading, quarter) => ({
      heading,
      of: (run) => run.by_size[quarter]?.slowdown[statistic] ?? null,
    })),
  }));
}
const times = (value: number | null, scale: number): number | null => (value === null ? null : value * scale);

/** One table each. */
const tables = (runs: readonly PrintedRun[]): readonly (readonly Group[])[] => [
  [
    { heading: 'ms per output token', columns: spread(runs, (run) => run.seconds_per_token, 1000) },
    { heading: 'program, s', columns: spread(runs, (run) => run.program_seconds) },
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
    { heading: 'call to first token, s', columns: spread(runs, (run) => run.ttft_seconds) },
    { heading: 'call in queue, s', columns: spread(runs, (run) => run.queue_seconds) },
  ],
  [
    {
      heading: 'slowdown',
      columns: spread(runs, (run) => run.slowdown, 1, ['mean', tailOf(runs.map(({ slowdown }) => slowdown))]),
    },
    ...quarters(runs),
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
  const { runs, settings, ratios, complete, advice } = document;
  const label = (variant: Parameters<typeof nameOf>[1]) => nameOf(settings, variant);
  const variants = settings.policies
    .flatMap((policy) => settings.balancers.map((balancer) => ({ policy, balancer })))
    .map((variant) => ({ label: label(variant), runs: runs.filter((run) => isOf(run, variant)) }))
    .filter((variant) => variant.runs.length > 0);
  const corner = label({ policy: 'policy', balancer: 'balancer' });
  const blocks = [
    [...ratios.map(({ outcome }) => outcome), ...advice],
    [titleOf(document)],
    ...[...tables(runs), kindsOf(runs)].map((groups) =>
      textTable(
        corner,
        groups.map(({ heading, columns }) => ({ heading, columns: columns.map((column) => column.heading) })),
        variants.map((variant) => [
          variant.label,
          ...groups.flatMap(({ columns }) =>
            columns.map(({ of, show = number }) => show(meanOf(variant.runs.map(of)))),
          ),
        ]),
        width,
      ),
    ),
    variants.flatMap((variant) => worstWait(variant.label, variant.runs)),
    refusals(runs),
    ratioTable(document, label, width),
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
  const tail = tailOf(
    runs.flatMap(({ by_workload }) => Object.values(by_workload).map((kind) => kind.program_seconds)),
  );
  return kinds.map((kind) => ({
    heading: kind,
    columns: [
      { heading: 'ms/token', of: (run) => times(run.by_workload[kind]?.seconds_per_token.mean ?? null, 1000) },
      { heading: 'mean, s', of: (run) => run.by_workload[kind]?.program_seconds.mean ?? null },
      { heading: `${tail}, s`, of: (run) => run.by_workload[kind]?.program_seconds[tail] ?? null },
    ],
  }));
}

function titleOf({ settings, runs }: SimDocument): string {
  const { workload, trace, arrivals, engines, preset, seeds, exact } = settings;
  const programs = Math.max(0, ...runs.map((run) => run.programs));
  const what = `${workload ?? trace ?? ''}: ${integer(programs)} programs ${arrivalsText(arrivals)}`;
  const seedText = exact
    ? 'whatever the seed'
    : seeds.length === 1
      ? `seed ${seeds.join()}`
      : `means over seeds ${seeds.join(', ')}`;
  return `${what}, ${engines} x ${preset}, ${seedText}`;
}

function arrivalsText(arrivals: SimDocument['settings']['arrivals']): string {
  if (arrivals.type === 'closed') return `${arrivals.concurrency} at a time`;
  if (arrivals.type === 'trace') return 'at recorded times';
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

function ratioTable(
  { ratios, runs, settings }: SimDocument,
  label: (variant: Variant) => string,
  width: number,
): string[] {
  const [first] = ratios;
  if (first === undefined) return [];
  const of = (each: Ratio): string =>
    ratio(each.ratio) + (each.low === null ? '' : ` (${ratio(each.low)}–${ratio(each.high)})`);
  const compared = [
    ['per output token', 'seconds_per_token', 'mean'],
    ['program', 'program_seconds', 'mean'],
    ['to first token', 'ttft_seconds', 'p50'],
  ] as const;
  const table = textTable(
    `times ${label(first.against)}`,
    [
      ...compared.map(([heading, name, middle]) => ({
        heading,
        columns: [middle, tailOf(runs.map((run) => run[name]))],
      })),
      { heading: '', columns: ['makespan'] },
    ],
    ratios.map((each) => [
      label(each),
      ...compared.flatMap(([, name, middle]) => [of(each[name][middle]), of(each[name].p99)]),
      of(each.makespan_seconds),
    ]),
    width,
  );
  const { pairs } = first.program_seconds.mean;
  if (settings.exact) return [...table, 'Exact: programs arrive at recorded times, so that chance plays no part.'];
  return [
    ...table,
    pairs > 1 ? `In brackets: 95 % confidence over ${pairs} seeds.` : 'No confidence interval: it takes several seeds.',
  ];
}

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
