import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { clock } from './format.js';

interface ChartProps {
  readonly name: string;
  /** Unix times in seconds. */
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  /** A second curve, above the first. */
  readonly most?: readonly (number | null)[];
  readonly format: (value: number) => string;
  readonly max?: number;
  /** Counts have no marks between whole numbers. */
  readonly isWhole?: true;
}

const HEIGHT = 180;

/** A small chart. Its figures are in the table below the charts, so readers of the screen skip it. */
export function Chart({ name, times, values, most, format, max, isWhole }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const data = useRef<uPlot.AlignedData>([[]]);
  const pointed = useSignal<number | null>(null);
  data.current = most === undefined ? [[...times], [...values]] : [[...times], [...values], [...most]];
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const draw = () => {
      plot.current?.destroy();
      if (box.current !== null)
        plot.current = makePlot(
          box.current,
          { format, max, isWhole, point: (at) => (pointed.value = at) },
          data.current,
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
  }, []);
  useEffect(() => plot.current?.setData(data.current), [times.at(-1), values.join(), most?.join()]);
  const at = pointed.value;
  const told = at === null ? [] : [values[at], most?.[at]].filter((value) => typeof value === 'number');
  return (
    <figure aria-hidden="true">
      <figcaption>
        {name}
        {at !== null && ` – ${clock(times[at] ?? 0)}: ${told.map(format).join(', ') || 'none'}`}
      </figcaption>
      <div ref={box} />
    </figure>
  );
}

interface Look {
  readonly format: ChartProps['format'];
  readonly max: number | undefined;
  readonly isWhole: true | undefined;
  /** Called with the step under the pointer. */
  readonly point: (at: number | null) => void;
}

function makePlot(box: HTMLElement, { format, max, isWhole, point }: Look, data: uPlot.AlignedData): uPlot {
  const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name);
  const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
  return new uPlot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      hooks: {
        setCursor: [({ cursor }) => point(cursor.left === undefined || cursor.left < 0 ? null : (cursor.idx ?? null))],
      },
      scales: { y: { range: (_, __, most) => [0, max ?? (most > 0 ? most * 1.1 : 1)] } },
      axes: [
        { ...axis, size: 22, font: '11px system-ui', values: (_, marks) => marks.map(timeOfDay), space: 70 },
        {
          ...axis,
          size: 70,
          font: '11px system-ui',
          values: (_, marks) => marks.map(format),
          space: 30,
          ...(isWhole && { incrs: WHOLE }),
        },
      ],
      series: [
        {},
        { stroke: colour('--accent'), fill: colour('--tint'), width: 1.5, spanGaps: false, points: { size: 4 } },
        ...(data.length > 2 ? [{ stroke: colour('--queued'), width: 1.5, spanGaps: false, points: { size: 4 } }] : []),
      ],
    },
    data,
    box,
  );
}

const WHOLE = [1, 2, 5]
  .flatMap((digit) => [1, 10, 100, 1000, 10_000].map((power) => digit * power))
  .sort((a, b) => a - b);

const timeOfDay = (seconds: number): string => new Date(seconds * 1000).toLocaleTimeString('en-GB').slice(0, 5);
