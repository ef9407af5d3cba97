import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

interface ChartProps {
  readonly name: string;
  /** Unix times in seconds. */
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  readonly format: (value: number) => string;
  readonly max?: number;
}

const HEIGHT = 110;

/** A small chart. Its figures are in the table below the charts, so readers of the screen skip it. */
export function Chart({ name, times, values, format, max }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const data = useRef<uPlot.AlignedData>([[]]);
  data.current = [[...times], [...values]];
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const draw = () => {
      plot.current?.destroy();
      if (box.current !== null) plot.current = makePlot(box.current, { format, max }, data.current);
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
  useEffect(() => plot.current?.setData(data.current), [times.at(-1), values.join()]);
  return (
    <figure aria-hidden="true">
      <figcaption>{name}</figcaption>
      <div ref={box} />
    </figure>
  );
}

function makePlot(
  box: HTMLElement,
  { format, max }: { format: ChartProps['format']; max: number | undefined },
  data: uPlot.AlignedData,
): uPlot {
  const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name);
  const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
  return new uPlot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: (_, __, most) => [0, max ?? (most > 0 ? most * 1.1 : 1)] } },
      axes: [
        { ...axis, size: 22, font: '11px system-ui', values: (_, marks) => marks.map(timeOfDay), space: 70 },
        { ...axis, size: 70, font: '11px system-ui', values: (_, marks) => marks.map(format), space: 30 },
      ],
      series: [
        {},
        { stroke: colour('--accent'), fill: colour('--tint'), width: 1.5, spanGaps: false, points: { size: 4 } },
      ],
    },
    data,
    box,
  );
}

const timeOfDay = (seconds: number): string => new Date(seconds * 1000).toLocaleTimeString('en-GB').slice(0, 5);
