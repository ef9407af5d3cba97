import {
  barChart,
  type Distribution,
  type Figure,
  lineChart,
  meanOf,
  seriesTable,
  seriesText,
  type Statistic,
  tailOf,
} from '../../lab/index.js';
import { type Axis, isChoice, type Value, type Values, valuesText } from './axes.js';
import type { PrintedRun, SimDocument } from './document.js';
import { listsOf, shownAxes, type ShownVariant, variantsOf } from './variants.js';

/** Series that a chart can tell apart. */
const SERIES_MAX = 6;

interface Latency {
  readonly name: string;
  readonly of: (run: PrintedRun) => number | null;
}

/** A line or a colour: a setting, and its variants along the horizontal axis. */
interface Series {
  readonly name: string;
  readonly variants: readonly ShownVariant[];
}

/** Latencies against the load if there are several loads, else as bars. Lower is better in all of them. */
export async function latencyFigures(document: SimDocument, recommended: Values | undefined): Promise<Figure[]> {
  const variants = variantsOf(document);
  const axes = shownAxes(document);
  const across = acrossOf(document, axes);
  const rest = axes.filter((axis) => axis !== across);
  const all = seriesOf(variants, rest);
  const series = chosenOf(all, rest, recommended);
  const left = all.length - series.length;
  const only =
    left > 0 ? ` ${series.length} of ${all.length} settings: the first, the recommended and the soonest.` : '';
  return Promise.all(
    latenciesOf(document.runs).map((latency) => figureOf(latency, across, { series, only, variants })),
  );
}

/** The axis along which values are drawn: the load, else the one with the most values. */
function acrossOf(document: SimDocument, axes: readonly Axis[]): Axis {
  const load = axes.find((axis) => axis === 'rate' || axis === 'concurrency');
  if (load !== undefined) return load;
  const lists = listsOf(document);
  return axes.reduce((most, axis) => ((lists[axis]?.length ?? 0) > (lists[most]?.length ?? 0) ? axis : most));
}

function seriesOf(variants: readonly ShownVariant[], rest: readonly Axis[]): Series[] {
  const byName = new Map<string, ShownVariant[]>();
  for (const variant of variants) {
    const name = valuesText(variant.values, rest);
    byName.set(name, [...(byName.get(name) ?? []), variant]);
  }
  return [...byName].map(([name, own]) => ({ name: name === '' ? 'mean over seeds' : name, variants: own }));
}

/** All, or the first, the recommended and those with the soonest programs, in their order. */
function chosenOf(all: readonly Series[], rest: readonly Axis[], recommended: Values = {}): readonly Series[] {
  const isRecommended = ({ variants }: Series) =>
    rest.filter(isChoice).every((axis) => variants[0]?.values[axis] === recommended[axis]);
  const rank = (series: Series) => (series === all[0] ? -2 : isRecommended(series) ? -1 : (meanOf(series.variants.flatMap(({ runs }) => runs.map((run) => run.program_seconds.mean))) ?? Infinity)); // prettier-ignore
  const kept = new Set(all.toSorted((a, b) => rank(a) - rank(b)).slice(0, SERIES_MAX));
  return all.filter((series) => kept.has(series));
}

function latenciesOf(runs: readonly PrintedRun[]): Latency[] {
  const each = (what: string, of: (run: PrintedRun) => Distribution, middle: Statistic): Latency[] => {
    const tail = tailOf(runs.map(of));
    return [
      { name: `${what}, ${middle === 'mean' ? 'mean' : 'median'}`, of: (run) => of(run)[middle] },
      { name: `${what}, ${tail === 'max' ? 'slowest' : 'p99'}`, of: (run) => of(run)[tail] },
    ];
  };
  return [
    ...each('Program time', (run) => run.program_seconds, 'mean'),
    ...each('Time to first token', (run) => run.ttft_seconds, 'p50'),
  ];
}

async function figureOf(
  { name, of }: Latency,
  across: Axis,
  drawn: { readonly series: readonly Series[]; readonly only: string; readonly variants: readonly ShownVariant[] },
): Promise<Figure> {
  const isLoad = across === 'rate' || across === 'concurrency';
  const given = [...new Set(drawn.variants.map(({ values }) => values[across] ?? ''))];
  const places = isLoad ? given.sort((a, b) => Number(a) - Number(b)) : given;
  const unit = isLoad ? LOADS[across] : across;
  const at = (place: Value, own: Series) => own.variants.filter(({ values }) => (values[across] ?? '') === place);
  const series = drawn.series.map((own) => ({
    name: own.name,
    values: places.map((place) => meanOf(at(place, own).flatMap(({ runs }) => runs.map(of)))),
  }));
  const text = { title: name, description: `Seconds, by ${unit}. ${seriesText(series)}.`, y: { label: 'seconds' } };
  const points = (values: readonly (number | null)[]) => places.map((place, index) => ({ x: Number(place), y: values[index] ?? null })); // prettier-ignore
  const svg = isLoad
    ? await lineChart({ ...text, x: { label: unit }, series: series.map((own) => ({ name: own.name, points: points(own.values) })) }) // prettier-ignore
    : await barChart({ ...text, groups: places.map(String), series });
  const table = seriesTable(`${name}, seconds`, unit, places.map(String), series);
  return { svg, table, caption: `${name}, by ${unit}; lower is better.${drawn.only}` };
}

const LOADS = { rate: 'programs a second', concurrency: 'programs at a time' } as const;
