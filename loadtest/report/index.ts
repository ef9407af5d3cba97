/**
 * The report of a load test: progress while it runs; at its end tables, JSON, and the verdict on its SLOs.
 *
 * Reading guide, in this order: `target.ts` gathers the measures of one target and `pairs.ts` compares two;
 * `document.ts` has all of them as plain data, and `compare.ts` compares two documents. From that come `summary.ts` (a
 * terminal), `advice.ts` in it, and `slo.ts`. `progress.ts` shows the run while it goes.
 */
import { writeFile } from 'node:fs/promises';
import { plain, tableWidth } from '../../text/index.js';
import type { LoadProgress, LoadCallRecord, LoadProgramRecord } from '../load.js';
import type { LoadSummary } from '../runs.js';
import { documentOf, type Settings } from './document.js';
import { Pairs } from './pairs.js';
import { ProgressView, type Screen } from './progress.js';
import { TARGET_NAMES, type Slo } from './slo.js';
import { Target } from './target.js';

export type { LoadDocument, Summarized } from './document.js';
export { compareDocuments, ComparisonError } from './compare.js';
export { causesText } from './pairs.js';
export * from './advice.js';
export { figureGrid, summaryOf, sureText, targetsText, textOf } from './summary.js';
export { CLEAR, FILLS, isOverload, KEEPS_UP_PROGRAMS_MIN } from './target.js';
export { isLossy, keepsUp, leftText, moreToTell, programsToTell, sustains } from './target.js';
export { parseSlo, resultOf, SloError, sloName, type Slo } from './slo.js';

export interface ReporterOptions {
  /** The run's workload, arrivals and seed, under stable names. */
  readonly settings: Settings;
  readonly targets: readonly string[];
  readonly seed: number;
  /** Share of a time up to which a difference between two targets does not matter. */
  readonly margin: number;
  /** How many times as fast as real the load is played. Its figures are those at real speed, as its rate is. */
  readonly speed: number;
  /** Whether a program arrives when another ends: then no queue can grow. */
  readonly isClosed: boolean;
  readonly slos: readonly Slo[];
  readonly quiet: boolean;
  /** File for the document; `-` is `out`. */
  readonly json?: string | undefined;
  readonly out: Screen;
  /** Receives progress, and tables when the document goes to `out`. */
  readonly err: Screen;
}

/**
 * Writes a text for people, and the document if there is a file for it. If the file cannot be written, rejects after
 * writing the text.
 */
export async function writeReport(
  { json, out, err }: Pick<ReporterOptions, 'json' | 'out' | 'err'>,
  textOf: (width: number) => string,
  document: object,
): Promise<void> {
  const screen = json === '-' ? err : out;
  screen.write(plain(textOf(tableWidth(screen))));
  const text = `${JSON.stringify(document, undefined, 2)}\n`;
  if (json === '-') out.write(text);
  if (json === undefined || json === '-') return;
  await writeFile(json, text).catch((error: unknown) => {
    throw new Error(`${json} cannot be written: ${(error as Error).message}`);
  });
  err.write(plain(`Wrote ${json}\n`));
}

export function makeReporter(options: ReporterOptions) {
  const { settings, seed, margin, speed, isClosed, slos, quiet, err } = options;
  const targets = options.targets.map((url, index) => new Target(TARGET_NAMES[index] ?? '', url, seed, isClosed));
  const pairs = targets.length > 1 ? new Pairs(seed, margin) : undefined;
  const view = quiet
    ? undefined
    : new ProgressView(
        err,
        targets.map(({ name }) => name),
      );
  return {
    callEnded(played: LoadCallRecord): void {
      const call = atRealSpeed(played, speed);
      targets[call.target]?.callEnded(call);
      view?.callEnded(call);
    },
    programEnded(played: LoadProgramRecord): void {
      const program = atRealSpeed(played, speed);
      targets[program.target]?.programEnded(program);
      pairs?.programEnded(program);
      view?.programEnded(program);
    },
    progress: (progress: LoadProgress) => view?.progress(progress),
    report(summary: LoadSummary) {
      view?.end();
      return documentOf(settings, targets, pairs, slos, {
        ...summary,
        targets: summary.targets.map((each) => atRealSpeed(each, speed)),
      });
    },
  };
}

/** Numbers that are times end in `Ms`. */
function atRealSpeed<T extends object>(record: T, speed: number): T {
  if (speed === 1) return record;
  const fields = Object.entries(record).map(([name, value]: [string, unknown]) =>
    typeof value === 'number' && name.endsWith('Ms') ? [name, value * speed] : [name, value],
  );
  return Object.fromEntries(fields) as T;
}
