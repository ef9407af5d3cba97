import { callout, code, figures, folded, page, paragraph, section, table, type Markup } from '../../lab/index.js';
import { valuesText } from './axes.js';
import { latencyFigures } from './charts.js';
import { cellsOf, headingsOf, overview } from './columns.js';
import type { SimDocument } from './document.js';
import { fragmentOf } from './fragment.js';
import type { Recommendation } from './recommendation.js';
import { headlines, ratioRows, titleOf } from './tables.js';
import { shownAxes, valuesOf, variantsOf } from './variants.js';

/**
 * The document as one self-contained page.
 * @param command the command line that made it
 */
export async function pageOf(
  document: SimDocument,
  recommendation: Recommendation | undefined,
  command: string,
): Promise<string> {
  const { advice, complete, settings } = document;
  const isBetter = recommendation !== undefined && recommendation.choice > 0;
  return page({
    title: 'Simulation',
    subtitle: `${titleOf(document)}.`,
    content: [
      ...headlines(document, recommendation?.sentence).map((sentence) => callout('finding', sentence)),
      ...advice.map((sentence) => callout('warning', sentence)),
      ...(complete ? [] : [callout('warning', 'Stopped: some runs are missing or not whole.')]),
      section('Latency', figures(await latencyFigures(document, recommendation?.values))),
      ...(isBetter ? [section('To set it', paragraph('In the gateway’s YAML file:'), code(fragmentOf(recommendation.values)))] : []), // prettier-ignore
      section('All settings', overviewTable(document), ...ratioTable(document)),
      section(
        'How it was simulated',
        paragraph('Figures are model time of the simulator: the same on every machine. docs/SIMULATOR.md says what the model leaves out.'), // prettier-ignore
        folded('The command', code([command])),
        folded('Settings of all runs', code(JSON.stringify(settings, undefined, 2).split('\n'))),
      ),
    ],
    foot: 'Made by maitred sim.',
  });
}

function overviewTable(document: SimDocument): Markup {
  const groups = headingsOf(overview(document.runs));
  return table({
    caption: 'Seconds, means over the seeds',
    columns: ['', ...groups.flatMap(({ columns }) => columns)],
    groups,
    rows: variantsOf(document).map(({ name, runs }) => [name, ...cellsOf(overview(document.runs), runs)]),
  });
}

function ratioTable(document: SimDocument): Markup[] {
  if (document.ratios.length === 0) return [];
  const { groups, rows, against, note } = ratioRows(document);
  const names = document.ratios.map((each) => valuesText(valuesOf(each), shownAxes(document)));
  return [
    table({
      caption: `As multiples of ${against}: below 1 is less. ${note}`,
      columns: ['', ...groups.flatMap(({ columns }) => columns)],
      groups,
      rows: rows.map((row, at) => [names[at] ?? '', ...row]),
    }),
  ];
}
