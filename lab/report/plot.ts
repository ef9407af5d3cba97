/**
 * Charts as SVG text: complete in itself, readable on light and dark. Same data,
 * same bytes. The plotting library is loaded by the first chart, so that other commands do not wait for it.
 */
import type * as Observable from '@observablehq/plot';
import { number } from '../../text/index.js';
import {
  addLegend,
  legendHeight,
  type LegendEntry,
  paletteStyle,
  SERIES_COLOURS,
  seriesColour,
  SvgDocument,
  type SvgElement,
} from './svg-document.js';

interface ChartText {
  /** Title of the chart, also its accessible name. */
  readonly title: string;
  /** Description of the picture, in a sentence or two. */
  readonly description: string;
  /** Pixels at full size; on a narrower screen it shrinks. */
  readonly width?: number;
}

interface Axis {
  /** Includes the unit. */
  readonly label: string;
}

/** Its vertical axis is logarithmic: values not above 0 are left out. */
export interface LineChart extends ChartText {
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
}

interface Series {
  readonly name: string;
  readonly points: readonly Point[];
}

interface Point {
  readonly x: number;
  /** Null: unknown, a gap in the line. */
  readonly y: number | null;
}

export interface BarChart extends ChartText {
  readonly y: Axis;
  readonly groups: readonly string[];
  /** Each series has a bar in each group, side by side. */
  readonly series: readonly BarSeries[];
}

interface BarSeries {
  readonly name: string;
  /** One for each group; null: none. */
  readonly values: readonly (number | null)[];
  /** Where each value may lie, drawn as a line over its bar; absent: nowhere else. */
  readonly ranges?: readonly (readonly [low: number, high: number] | null)[];
}

export type Block = Table | Chart;

export interface Table {
  readonly type: 'table';
  readonly caption: string;
  readonly columns: readonly string[];
  /** A label, then figures. */
  readonly rows: readonly (readonly string[])[];
}

export type Chart = { readonly type: 'chart'; readonly name: string } & (
  { readonly lines: LineChart } | { readonly bars: BarChart }
);

type Plot = typeof Observable;
type Options = NonNullable<Parameters<Plot['plot']>[0]>;

const WIDTH = 500;
const HEIGHT = 300;
const MARGIN = { top: 26, right: 18, bottom: 42, left: 54 };
const DASHES = ['', '6 3', '2 3'];
const SYMBOLS = ['circle', 'square', 'triangle', 'diamond', 'cross', 'star'] as const;
const TICKS = { ticks: 5, tickFormat: number };
/** Only 1, 2 and 5 of each decade have room for labels. */
const LOG_TICKS = {
  ticks: 8,
  tickFormat: (value: number) => (/^[125]/.test(value.toExponential()) ? number(value) : ''),
};
const STYLE = [
  paletteStyle('svg.chart'),
  'svg.chart{color:var(--text);font:12px system-ui,sans-serif;max-width:100%;height:auto;display:block}',
  'svg.chart text{white-space:pre}',
].join('');

export async function lineChart({ series, x, y, ...rest }: LineChart): Promise<string> {
  const plot = await import('@observablehq/plot');
  const marks = series.flatMap(({ name, points }, index) => {
    const data = points.map((point) => ({ ...point, y: Number(point.y) > 0 ? point.y : NaN }));
    const [stroke, dash] = strokeOf(index);
    return [
      plot.lineY(data, { x: 'x', y: 'y', stroke, strokeWidth: 2, strokeDasharray: dash }),
      plot.dot(data, {
        x: 'x',
        y: 'y',
        fill: stroke,
        symbol: SYMBOLS[index % SYMBOLS.length] ?? 'circle',
        title: (point: Point) => `${name}: ${number(point.y)} at ${number(point.x)}`,
      }),
    ];
  });
  const options = {
    x: { label: x.label },
    y: { label: y.label, grid: true, nice: true, type: 'log' as const },
    marks: [plot.axisY(LOG_TICKS), plot.axisX(TICKS), ...marks],
  };
  return draw(plot, options, rest, linesOf(series));
}

export async function barChart({ groups, series, y, ...rest }: BarChart): Promise<string> {
  const plot = await import('@observablehq/plot');
  const legend = series.map(({ name }, index) => ({ name, fill: seriesColour(index) }));
  const bars = groups.flatMap((group, at) =>
    series.flatMap(({ name, values, ranges }, index) => {
      const value = values[at] ?? null;
      const [low, high] = ranges?.[at] ?? [value, value];
      return value === null ? [] : [{ group, name, value, low, high, fill: legend[index]?.fill ?? '' }];
    }),
  );
  type Bar = (typeof bars)[number];
  const ranged = bars.filter(({ low, high }) => low !== high);
  const range = ({ low, high }: Bar) => (low === high ? '' : `, between ${number(low)} and ${number(high)}`);
  const title = (bar: Bar) => `${bar.group}, ${bar.name}: ${number(bar.value)}${range(bar)}`;
  // Of a value that may be others, a third digit tells nothing.
  const text = ({ value, low, high }: Bar) => (low === high ? number(value) : value.toPrecision(2));
  const fill = (bar: Bar) => bar.fill;
  const names = series.map(({ name }) => name);
  const band = { domain: groups, label: null, padding: 0.2 };
  const place = { fx: 'group', x: 'name' };
  const labelled = bars.length <= 16;
  const options = {
    fx: band,
    x: { domain: names, axis: null, padding: 0.05 },
    y: { label: y.label, grid: true, zero: true, nice: true },
    color: { type: 'identity' },
    marks: [
      plot.axisY(TICKS),
      plot.barY(bars, { ...place, y: 'value', fill, title }),
      ...(ranged.length > 0
        ? [plot.ruleX(ranged, { ...place, y1: 'low', y2: 'high', stroke: 'var(--text)', strokeWidth: 2 })]
        : []),
      ...(labelled ? [plot.text(bars, { ...place, y: 'high', text, dy: -7, fontSize: 11 })] : []),
      plot.ruleY([0]),
    ],
  } as const;
  return draw(plot, options as unknown as Options, rest, legend);
}

function draw(
  plot: Plot,
  options: Options,
  { title, description, width = WIDTH }: ChartText,
  legend: readonly LegendEntry[],
): string {
  const room = width - MARGIN.left - MARGIN.right;
  // Axis labels lie at the upper edge of Plot's drawing; the legend gets room above it.
  const above = legendHeight(legend, room);
  const drawn: unknown = plot.plot({
    document: new SvgDocument() as never,
    className: 'chart',
    width,
    height: HEIGHT,
    marginTop: MARGIN.top,
    marginRight: MARGIN.right,
    marginBottom: MARGIN.bottom,
    marginLeft: MARGIN.left,
    ...options,
  });
  const svg = drawn as SvgElement;
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  svg.setAttribute('role', 'img');
  svg.removeAttribute('font-family');
  svg.removeAttribute('font-size');
  if (legend.length > 1) {
    svg.setAttribute('height', HEIGHT + above);
    svg.setAttribute('viewBox', `0 ${-above} ${width} ${HEIGHT + above}`);
    addLegend(svg, legend, { left: MARGIN.left, top: -above, width: room });
  }
  svg.prepend(child(svg, 'title', title), child(svg, 'desc', description), child(svg, 'style', STYLE));
  return svg.toString();
}

function child(svg: SvgElement, name: string, text: string): SvgElement {
  const element = svg.ownerDocument.createElement(name);
  element.textContent = text;
  return element;
}

/** Dashes reveal a line that lies on another, and distinguish lines of one colour. */
const strokeOf = (index: number) =>
  [seriesColour(index), DASHES[(index + Math.floor(index / SERIES_COLOURS)) % DASHES.length] ?? ''] as const;

const linesOf = (series: readonly { readonly name: string }[]): LegendEntry[] =>
  series.map(({ name }, index) => ({ name, stroke: strokeOf(index)[0], dash: strokeOf(index)[1] }));
