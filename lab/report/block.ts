import type { BarChart, LineChart } from './plot.js';

/** A part of a report. */
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
