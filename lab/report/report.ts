import type { Experiment } from '../experiments/experiment.js';
import type { Block, Chart } from './block.js';
import { barChart, lineChart } from './plot.js';

/** The result of an experiment. */
export interface Chapter {
  readonly experiment: Experiment;
  readonly blocks: readonly Block[];
  /** Recordings that were missing. */
  readonly missing: readonly string[];
}

/** The contents of a report; `markdown.ts` writes it. */
export interface Report {
  readonly title: string;
  /** Facts about the whole report: seeds, model, whether it was stopped. */
  readonly notes: readonly string[];
  readonly chapters: readonly Chapter[];
  /** Commands that reproduce the report, and single runs of it. */
  readonly commands: readonly string[];
}

/** Every chart of the report as SVG text, by its name. */
export async function drawCharts({ chapters }: Report): Promise<ReadonlyMap<string, string>> {
  const drawn = new Map<string, string>();
  for (const block of chapters.flatMap(({ blocks }) => blocks))
    if (block.type === 'chart') drawn.set(block.name, await draw(block));
  return drawn;
}

const draw = (chart: Chart): Promise<string> => ('lines' in chart ? lineChart(chart.lines) : barChart(chart.bars));

export const textOf = (chart: Chart) => ('lines' in chart ? chart.lines : chart.bars);

export const missingText = ({ missing }: Chapter): string[] =>
  missing.length === 0 ? [] : [`Left out, as the recordings are not here: ${missing.join(', ')}.`];
