/**
 * What a load test says: while it runs, at its end in tables, as JSON and as a page, and whether it reached what it must.
 *
 * Reading guide, in this order: `target.ts` gathers what one target did and `pairs.ts` compares two; `document.ts` is all
 * of it as plain data. From that come `summary.ts` (a terminal), `html.ts` (a page; `charts.ts`, `lanes.ts`) and `slo.ts`.
 * `progress.ts` shows the run while it goes.
 */
import { writeFile } from 'node:fs/promises';
import { plain, tableWidth } from '../../lab/index.js';
import type { LoadProgress, LoadSummary } from '../load.js';
import type { LoadCallRecord, LoadObserver, LoadProgramRecord } from '../records.js';
import { documentOf, type LoadDocument, type Settings } from './document.js';
import { htmlOf } from './html.js';
import { Lanes } from './lanes.js';
import { Pairs } from './pairs.js';
import { ProgressView, type Screen } from './progress.js';
import { TARGET_NAMES, type Slo } from './slo.js';
import { summaryOf } from './summary.js';
import { Target } from './target.js';

export type { LoadDocument } from './document.js';
export { parseSlo, SloError, type Slo } from './slo.js';

export interface ReporterOptions {
  /** What is run, in a line: the workload, its arrivals, the seed. */
  readonly title: string;
  /** The same for machines, under names that do not change. */
  readonly settings: Settings;
  /** URLs, one or two. */
  readonly targets: readonly string[];
  readonly seed: number;
  readonly slos: readonly Slo[];
  /** Nothing is shown while it runs. */
  readonly quiet: boolean;
  /** Where the document goes; `-` is `out`. */
  readonly json?: string | undefined;
  /** Where the page goes. */
  readonly html?: string | undefined;
  /** For results. */
  readonly out: Screen;
  /** For progress, and for tables when the document takes `out`. */
  readonly err: Screen;
}

export interface Reporter extends LoadObserver {
  progress(progress: LoadProgress): void;
  /** Writes everything. Rejects with the error of a file that could not be written, when all else is. */
  finish(summary: LoadSummary): Promise<LoadDocument>;
}

/** Programs in the picture of each target. */
const LANES_MAX = 40;

export function makeReporter(options: ReporterOptions): Reporter {
  const { title, settings, seed, slos, quiet, json, html, out, err } = options;
  const targets = options.targets.map((url, index) => new Target(TARGET_NAMES[index] ?? '', url, seed));
  const pairs = targets.length > 1 ? new Pairs(seed) : undefined;
  const lanes = html === undefined ? undefined : new Lanes(seed, LANES_MAX);
  const view = quiet ? undefined : new ProgressView(err, targets.map(({ name }) => name)); // prettier-ignore
  return {
    callEnded(call: LoadCallRecord): void {
      targets[call.target]?.callEnded(call);
      lanes?.callEnded(call);
      view?.callEnded(call);
    },
    programEnded(program: LoadProgramRecord): void {
      targets[program.target]?.programEnded(program);
      pairs?.programEnded(program);
      lanes?.programEnded(program);
      view?.programEnded(program);
    },
    progress: (progress) => view?.progress(progress),
    async finish(summary) {
      view?.end();
      const document = documentOf({ settings, targets, pairs, slos }, summary);
      const text = `${JSON.stringify(document, undefined, 2)}\n`;
      const screen = json === '-' ? err : out;
      screen.write(plain(`${title}\n\n${summaryOf(document, tableWidth(screen))}`));
      if (json === '-') out.write(text);
      const writePage = async (file: string, drawn: Lanes) =>
        writeFile(file, await htmlOf({ title, document, targets, lanes: drawn }));
      const written = await Promise.allSettled([
        json === undefined || json === '-' ? undefined : writeFile(json, text),
        html === undefined || lanes === undefined ? undefined : writePage(html, lanes),
      ]);
      for (const each of written) if (each.status === 'rejected') throw each.reason;
      return document;
    },
  };
}
