import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { clock, count, duration, tokens } from './format.js';

export interface Curve {
  readonly name: string;
  /** A variable of the style sheet. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly name: string;
  /** Unix times in seconds. */
  readonly times: readonly number[];
  /** The first is an area. Of a stack, each is drawn on those before it. */
  readonly curves: readonly Curve[];
  readonly isStack?: true;
  readonly marks: readonly { readonly at: number; readonly text: string }[];
  readonly format: (value: number) => string;
  readonly max?: number;
}

const HEIGHT = 130;

/** A chart. Its caption has the figures of the time that is pointed at; those of now are above all charts. */
export function Chart(props: ChartProps) {
  const { name, times, curves, marks, format } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(props);
  const pointed = useSignal<number | null>(null);
  latest.current = props;
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const draw = () => {
      plot.current?.destroy();
      if (box.current !== null)
        plot.current = makePlot(
          box.current,
          () => latest.current,
          (at) => (pointed.value = at),
        );
    };
    const sizes = new ResizeObserver(([entry]) => {
      if (entry !== undefined) plot.current?.setSize({ width: entry.contentRect.width, height: HEIGHT });
    });
    draw();
    dark.addEventListener('change', draw);
    if (box.current !== null) sizes.observe(box.current);
    return () => {
      dark.removeEventListener('change', draw);
      sizes.disconnect();
      plot.current?.destroy();
    };
  }, [curves.map((curve) => curve.name).join()]);
  useEffect(() => plot.current?.setData(dataOf(props)), [times.at(-1), marks.length, JSON.stringify(curves)]);
  const at = pointed.value;
  return (
    <figure>
      <figcaption>
        <b>{name}</b>
        {curves.map((curve) => (
          <span key={curve.name} style={{ '--curve': `var(${curve.colour})` }} class="curve">
            {curve.name} {at !== null && told(curve.values[at], format)}
          </span>
        ))}
        {at !== null && <span>{timeAndMarks(props, at)}</span>}
      </figcaption>
      <div ref={box} aria-hidden="true" />
    </figure>
  );
}

const told = (value: number | null | undefined, format: ChartProps['format']): string =>
  typeof value === 'number' ? format(value) : '–';

function timeAndMarks({ times, marks }: ChartProps, at: number): string {
  const [from = 0, until = Infinity] = [times[at], times[at + 1]];
  const here = marks.filter((mark) => mark.at >= from && mark.at < until).map(({ text }) => text);
  return [clock(from), ...here].join(': ');
}

/** Columns to draw. The upper curves of a stack come first, so that lower ones are drawn over their areas. */
function dataOf({ times, curves, isStack }: ChartProps): uPlot.AlignedData {
  if (isStack === undefined) return [[...times], ...curves.map(({ values }) => [...values])];
  return [[...times], ...curves.map((_, at) => sumOf(curves.slice(0, at + 1))).reverse()];
}

/** At each time, of those that have a value then. */
export const sumOf = (curves: readonly Pick<Curve, 'values'>[]): (number | null)[] =>
  (curves[0]?.values ?? []).map((_, at) => {
    const parts = curves.map(({ values }) => values[at] ?? null).filter((part) => part !== null);
    return parts.length === 0 ? null : parts.reduce((sum, part) => sum + part, 0);
  });

function makePlot(box: HTMLElement, props: () => ChartProps, point: (at: number | null) => void): uPlot {
  const colour = (name: string) => {
    box.style.color = `var(${name})`;
    return getComputedStyle(box).color;
  };
  const grid = { stroke: colour('--line'), width: 1 };
  const axis = { stroke: colour('--quiet'), grid, ticks: { show: false }, font: '11px system-ui' };
  const { curves, format, max, isStack } = props();
  const isWhole = format === count || format === tokens;
  // Of counts, nothing between whole numbers is told.
  const label = (value: number) => (isWhole && !Number.isInteger(value) ? '' : format(value));
  const steps = format === duration ? { incrs: [...SHORT, ...TIMES] } : {};
  const drawn = isStack === undefined ? curves : [...curves].reverse();
  return new uPlot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      hooks: {
        setCursor: [({ cursor }) => point(cursor.left === undefined || cursor.left < 0 ? null : (cursor.idx ?? null))],
        draw: [(plot) => drawMarks(plot, props().marks, colour('--bad'))],
      },
      scales: { y: { range: (_, __, most) => [0, max ?? (most > 0 ? most * 1.1 : 1)] } },
      axes: [
        { ...axis, size: 22, values: (_, ticks) => ticks.map(timeOfDay), incrs: TIMES, space: 45 },
        { ...axis, ...steps, size: 70, values: (_, ticks) => ticks.map(label), space: 30 },
      ],
      series: [
        {},
        ...drawn.map((curve, at) => ({
          stroke: colour(curve.colour),
          fill: isStack !== undefined ? colour(curve.colour) : at === 0 ? colour('--tint') : 'transparent',
          width: 1.5,
          spanGaps: false,
          points: { size: 4, filter: (plot: uPlot, at: number) => alone(plot.data[at] ?? []) },
        })),
      ],
    },
    dataOf(props()),
    box,
  );
}

/** Values between gaps: no line shows them. */
const alone = (values: uPlot.AlignedData[number]): number[] =>
  [...values].flatMap((value, at) =>
    value !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null ? at : [],
  );

/** A dashed line for each mark. */
function drawMarks(plot: uPlot, marks: ChartProps['marks'], colour: string): void {
  const { ctx, bbox, scales } = plot;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([4, 4]);
  for (const { at } of marks) {
    if (at < (scales['x']?.min ?? 0)) continue;
    const x = plot.valToPos(at, 'x', true);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** Ticks of time are 1, 2, 5, 10, 15 or 30 minutes, or 1 hour and more apart; those of uPlot leap from one minute to five. */
const TIMES = [60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400];
/** Those of durations below a minute. */
const SHORT = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30];

const timeOfDay = (seconds: number): string => new Date(seconds * 1000).toLocaleTimeString('en-GB').slice(0, 5);
