import { draw, type ChartSize, type ChartText } from './plot.js';

/** A use of time in a lane. */
export interface SpanKind {
  readonly name: string;
  readonly fill: string;
  /** Drawn as a thin line in the middle of its lane: time in which none of our calls ran. */
  readonly thin?: boolean;
}

export interface Span {
  readonly from: number;
  readonly until: number;
  /** Index in the kinds. */
  readonly kind: number;
  /** Its row among parallel spans, from 0, and the number of these rows. */
  readonly row: number;
  readonly rows: number;
}

export interface Lane {
  readonly name: string;
  readonly spans: readonly Span[];
}

export interface SwimLanes extends ChartText, ChartSize {
  readonly lanes: readonly Lane[];
  readonly kinds: readonly SpanKind[];
  /** Seconds. */
  readonly from: number;
  readonly until: number;
}

const LANE_PX = 13;
const THIN_PX = 2;
/** Share of a lane's height left free, to separate lanes. */
const FREE = 0.24;
const NAME_MAX = 12;

/** One lane for each of several parallel items, with spans that show how it spent its time. */
export async function swimLanes({ lanes, kinds, from, until, ...rest }: SwimLanes): Promise<string> {
  const plot = await import('@observablehq/plot');
  const spans = lanes.flatMap((lane, at) =>
    lane.spans.map((span) => ({ ...placeOf(span, at, kinds[span.kind]?.thin === true), ...span })),
  );
  const marks = kinds.map(
    ({ fill }, kind) =>
    plot.rect(spans.filter((span) => span.kind === kind), { x1: 'from', x2: 'until', y1: 'top', y2: 'bottom', fill }), // prettier-ignore
  );
  const options = {
    x: { label: 'seconds since the start', domain: [from, until], grid: true },
    y: { domain: [0, Math.max(1, lanes.length)], reverse: true, label: null },
    marks: [
      plot.axisY(
        lanes.map((_, at) => at + 0.5),
        { tickSize: 0, text: lanes.map(({ name }) => shortened(name)), fontSize: 9.5 },
      ),
      plot.axisX({ ticks: 6 }),
      ...marks,
    ],
  };
  const height = lanes.length * LANE_PX + 80;
  return draw(plot, { ...options, marginLeft: 86 }, { height, ...rest }, kinds);
}

function placeOf({ row, rows }: Span, lane: number, thin: boolean): { top: number; bottom: number } {
  if (thin) return { top: lane + 0.5 - THIN_PX / LANE_PX / 2, bottom: lane + 0.5 + THIN_PX / LANE_PX / 2 };
  const height = (1 - FREE) / rows;
  const top = lane + FREE / 2 + row * height;
  return { top, bottom: top + height };
}

/** The end distinguishes names more often than the beginning. */
const shortened = (name: string): string => (name.length <= NAME_MAX ? name : `…${name.slice(1 - NAME_MAX)}`);
