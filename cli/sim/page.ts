import { callout, code, figures, folded, gridOf, gridTable, page, paragraph, section, table } from '../../lab/index.js';
import { valuesText } from './axes.js';
import { latencyFigures } from './charts.js';
import { overview } from './columns.js';
import type { SimDocument } from './document.js';
import type { Recommendation } from './recommendation.js';
import { fragmentOf } from './scheduling.js';
import { headlines, ratioGrid, titleOf } from './tables.js';
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
  const runs = document.runs.filter((run) => run.complete);
  const rows = variantsOf({ ...document, runs }).map((each) => [each.name, each.runs] as const);
  const all = gridTable('Seconds, means over the seeds', gridOf('', overview(runs), rows));
  const names = document.ratios.map((each) => valuesText(valuesOf(each), shownAxes(document)));
  const { grid, against, note } = ratioGrid(document, names);
  const ratios =
    names.length === 0 ? [] : [table(gridTable(`As multiples of ${against}: below 1 is less. ${note}`, grid))];
  const isBetter = recommendation !== undefined && recommendation.choice > 0;
  return page({
    title: 'Simulation',
    subtitle: `${titleOf(document)}.`,
    content: [
      ...(complete ? [] : [callout('warning', 'Stopped: runs that had not ended are left out.')]),
      ...headlines(document, recommendation?.sentence)
        .flatMap((text) => text.split('\n'))
        .map((sentence) => callout('finding', sentence)),
      ...advice.map((sentence) => callout('warning', sentence)),
      section('Latency', figures(await latencyFigures(document, recommendation?.values))),
      ...(isBetter ? [section('To set it', paragraph('In the gateway’s YAML file:'), code(fragmentOf(recommendation.values)))] : []), // prettier-ignore
      section('All settings', table(all), ...ratios),
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
