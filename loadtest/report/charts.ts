import {
  barChart,
  colour,
  distributionChart,
  type Figure,
  figures,
  type Lane,
  type Markup,
  nearestRank,
  paragraph,
  section,
  lowestOf,
  seriesTable,
  seriesText,
  type SpanKind,
  swimLanes,
} from '../../lab/index.js';
import { integer, number } from '../../text/index.js';
import { ENGINE, FAILED, QUEUE, TOOL, type Lanes } from './lanes.js';
import { quarterName } from './grids.js';
import type { Target, TargetReport } from './target.js';

/** Ratio of a range above which its axis is logarithmic. */
const WIDE = 30;
const WIDE_PX = 1080;

const DISTRIBUTIONS = [
  { of: 'program', what: 'Program completion time', unit: 'seconds', scale: 1, items: 'programs' },
  { of: 'ttft', what: 'Time to first token', unit: 'seconds', scale: 1, items: 'calls' },
  { of: 'interToken', what: 'Time between tokens', unit: 'milliseconds', scale: 1000, items: 'calls' },
  { of: 'slowdown', what: 'Slowdown', unit: 'times its time alone', scale: 1, items: 'programs' },
] as const;

const SHARES = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1];

/** Charts of the distributions that have values. */
export async function distributionFigures(targets: readonly Target[]): Promise<Figure[]> {
  const drawn = DISTRIBUTIONS.map(async ({ of, what, unit, scale, items }): Promise<Figure[]> => {
    const series = targets.map((target) => ({ name: target.name, values: target.curve(of).map((value) => scale * value) })); // prettier-ignore
    const all = series.flatMap(({ values }) => values);
    if (all.length === 0) return [];
    const log = Math.max(...all) > WIDE * lowestOf(series.map(({ values }) => values));
    const halves = series.map(({ name, values }) => `${name}: half within ${number(rankOf(values, 0.5))}, all within ${number(rankOf(values, 1))} ${unit}`); // prettier-ignore
    const svg = await distributionChart({
      title: what,
      description: `Share of ${items} by ${what.toLowerCase()}. ${halves.join('. ')}.`,
      x: { label: `${unit}${log ? ', logarithmic' : ''}`, log },
      series,
    });
    const table = seriesTable(
      `${unit}, by the share of ${items} that took at most so long`,
      'share',
      SHARES.map((share) => `${100 * share} %`),
      series.map(({ name, values }) => ({ name, values: SHARES.map((share) => rankOf(values, share)) })),
    );
    return [{ svg, caption: `${what}: the share of ${items} that took at most so long. Further left is better; dots mark medians.`, table }]; // prettier-ignore
  });
  return (await Promise.all(drawn)).flat();
}

/** Null without values. */
const rankOf = (sorted: readonly number[], share: number): number | null =>
  sorted.length === 0 ? null : nearestRank(sorted, share);

/** The first two colours are those of the targets. */
const ENGINE_FILL = colour.series(2);
const QUEUE_FILL = colour.series(4);

const TIME_KINDS = [
  { name: 'engine', fill: ENGINE_FILL, of: 'engine_seconds_mean' },
  { name: 'queue', fill: QUEUE_FILL, of: 'queue_seconds_mean' },
  { name: 'tools', fill: colour.muted, of: 'tool_seconds_mean' },
] as const;

export async function sizeFigures(targets: readonly TargetReport[]): Promise<Figure[]> {
  const groups = [0, 1, 2, 3].map(quarterName);
  const bars = async (
    what: string,
    label: string,
    of: (size: TargetReport['by_size'][number]) => number | null,
  ): Promise<Figure[]> => {
    const series = targets.map(({ name, by_size }) => ({ name, values: by_size.map(of) }));
    if (series.every(({ values }) => values.every((value) => value === null))) return [];
    const svg = await barChart({ title: what, description: `${label}, from small programs to large. ${seriesText(series)}.`, groups, series, y: { label } }); // prettier-ignore
    return [{ svg, caption: `${what} in each quarter of the programs by their tokens; lower is better.` }];
  };
  const totals = targets.flatMap(({ by_size }) => by_size.map((size) => TIME_KINDS.reduce((sum, { of }) => sum + (size[of] ?? 0), 0))); // prettier-ignore
  const splits = targets.map(async ({ name, by_size }): Promise<Figure> => {
    const series = TIME_KINDS.map((kind) => ({ name: kind.name, fill: kind.fill, values: by_size.map((size) => size[kind.of]) })); // prettier-ignore
    const what = targets.length > 1 ? `Where program time went at ${name}` : 'Where program time went';
    const svg = await barChart({ title: what, description: `Mean seconds, from small programs to large. ${seriesText(series)}.`, groups, series, y: { label: 'mean seconds', max: Math.max(...totals) }, stacked: true }); // prettier-ignore
    return { svg, caption: `${what}, by size, along the critical path.` };
  });
  return [
    ...(await bars('Mean program time', 'mean seconds', (size) => size.program_seconds.mean)),
    ...(await bars('Mean slowdown', 'times its time alone', (size) => size.slowdown.mean)),
    ...(await Promise.all(splits)),
  ];
}

const KINDS: SpanKind[] = [];
KINDS[TOOL] = { name: 'tools', fill: colour.muted, thin: true };
KINDS[ENGINE] = { name: 'engine', fill: ENGINE_FILL };
KINDS[QUEUE] = { name: 'queue', fill: QUEUE_FILL };
KINDS[FAILED] = { name: 'failed call', fill: colour.bad };

export async function laneSection(targets: readonly Target[], lanes: Lanes): Promise<Markup> {
  const shown = lanes.lanes(targets.length);
  const count = Math.max(...shown.map((each) => each.lanes.length));
  if (count === 0) return section('Programs over time', paragraph('No program has ended.'));
  const single = targets.length === 1;
  const drawn = shown.map(async ({ lanes: list, from, until }, index): Promise<Figure> => {
    const name = targets[index]?.name ?? '';
    const title = single ? 'Programs over time' : `Programs over time at ${name}`;
    const description = `${list.length} programs, one lane each, from ${number(from)} to ${number(until)} seconds. ${shareSentence(list)}`;
    const svg = await swimLanes({ title, description, lanes: list, kinds: KINDS, from, until, ...(single ? { width: WIDE_PX } : {}) }); // prettier-ignore
    return { svg, caption: `${single ? '' : `${name}: `}${shareSentence(list)}`, wide: single ? 'page' : 'column' };
  });
  const whole = lanes.programs <= count ? 'All programs are shown.' : `${count} programs that arrived one after the other are shown, of ${integer(lanes.programs)}.`; // prettier-ignore
  const about = 'Each lane is a program; calls that ran side by side share its height. A call waits in a queue as long as the gateway said that it did; where none says, all of its time counts as the engine’s.'; // prettier-ignore
  const all = await Promise.all(drawn);
  return section('Programs over time', paragraph(`${whole} ${about}`), figures(all));
}

function shareSentence(lanes: readonly Lane[]): string {
  const totals = KINDS.map((_, kind) =>
    lanes
      .flatMap(({ spans }) => spans)
      .reduce((sum, span) => sum + (span.kind === kind ? span.until - span.from : 0), 0),
  );
  return `Seconds in all: ${KINDS.map(({ name }, kind) => `${name} ${number(totals[kind] ?? 0)}`).join(', ')}.`;
}
