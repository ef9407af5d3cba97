import { overSamePrograms, pairedRatio, pairOf, type Ratio } from '../measure/comparison.js';
import { integer, number, percent } from '../../text/index.js';
import type { RunMeasures } from '../measure/run.js';
import type { Statistic } from '../measure/sample.js';
import { keyOf, type Case } from './case.js';
import { meanOf, ratioText, scaled } from '../report/grid.js';
import type { Table } from '../report/plot.js';

export interface Measure {
  /** Includes the unit. */
  readonly label: string;
  readonly of: (run: RunMeasures) => number | null;
  readonly show: (value: number | null) => string;
}

export const measure = (
  label: string,
  of: Measure['of'],
  show: (value: number | null) => string = integer,
): Measure => ({ label, of, show });
const total = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

export const perToken = (statistic: Statistic): Measure =>
  measure(`ms/token ${statistic}`, (run) => scaled(run.seconds_per_token[statistic], 1000), number);
export const programTime = (statistic: Statistic): Measure =>
  measure(`program s ${statistic}`, (run) => run.program_seconds[statistic], number);
export const HITS = measure(
  'hits',
  (run) => run.prefix_hit_rate,
  (value) => percent(value),
);
export const WORST_WAIT = measure('longest wait s', (run) => run.worst_waiting?.seconds ?? 0);
export const REFUSED = measure('refused calls', (run) => total(run.refused));
export const LOST = measure('lost', (run) => run.lost);
export const RETRIES = measure('retries', (run) => total(run.retries));

export class Results {
  readonly #runs = new Map<string, (RunMeasures | undefined)[]>();

  /** Registers a planned case, to be run with each of the seeds. */
  expect(one: Case, seeds: number): void {
    this.#runs.set(keyOf(one), Array.from({ length: seeds }));
  }

  set(one: Case, seedIndex: number, run: RunMeasures): void {
    if (run.complete) this.#of(one)[seedIndex] = run;
  }

  /** The mean over the seeds; null where no run has the figure. */
  mean(one: Case, { of }: Measure): number | null {
    return meanOf(this.#of(one).map((run) => (run === undefined ? null : of(run))));
  }

  shown(one: Case, measure: Measure): string {
    return measure.show(this.mean(one, measure));
  }

  /** Ratio of the other to the first, over the programs that both completed: below 1 the other's value is smaller. */
  ratio(first: Case, other: Case, { of }: Measure): Ratio {
    const others = this.#of(other);
    const pairs = this.#of(first).flatMap((run, seed) => {
      const twin = others[seed];
      return run === undefined || twin === undefined ? [] : pairOf(...overSamePrograms(run, twin), of);
    });
    return pairedRatio(pairs);
  }

  /** A row for each case, a column for each measure. @param more cells that follow them in each row, under their labels */
  table(
    caption: string,
    corner: string,
    measures: readonly Measure[],
    rows: readonly (readonly [label: string, one: Case])[],
    more: readonly (readonly [label: string, of: (one: Case) => string])[] = [],
  ): Table {
    return {
      type: 'table',
      caption,
      columns: [corner, ...measures.map(({ label }) => label), ...more.map(([label]) => label)],
      rows: rows.map(([label, one]) => [
        label,
        ...measures.map((measure) => this.shown(one, measure)),
        ...more.map(([, of]) => of(one)),
      ]),
    };
  }

  /** A cell for `table`: the ratio to one case, with its interval. */
  against(label: string, first: Case, measure: Measure): readonly [label: string, of: (one: Case) => string] {
    return [label, (one) => ratioText(this.ratio(first, one, measure))];
  }

  /** @throws RangeError for an unplanned case, which would otherwise look like a stopped one */
  #of(one: Case): (RunMeasures | undefined)[] {
    const runs = this.#runs.get(keyOf(one));
    if (runs === undefined) throw new RangeError(`not a planned case: ${keyOf(one)}`);
    return runs;
  }
}
