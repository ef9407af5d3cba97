import { pairedRatio, type Pair, type Ratio, overSamePrograms } from '../measure/comparison.js';
import { integer, number, percent, ratio } from '../../text/index.js';
import type { RunMeasures } from '../measure/run.js';
import { keyOf, type Case } from './case.js';
import type { Table } from '../report/plot.js';

export interface Measure {
  /** Includes the unit. */
  readonly label: string;
  readonly of: (run: RunMeasures) => number | null;
  readonly show: (value: number | null) => string;
}

type Statistic = 'mean' | 'p50' | 'p95' | 'p99' | 'max';

export const perToken = (statistic: Statistic): Measure => ({
  label: `ms/token ${statistic}`,
  of: (run) => times(1000, run.seconds_per_token[statistic]),
  show: number,
});

export const programTime = (statistic: Statistic): Measure => ({
  label: `program s ${statistic}`,
  of: (run) => run.program_seconds[statistic],
  show: number,
});

export const HITS: Measure = { label: 'hits', of: (run) => run.prefix_hit_rate, show: (value) => percent(value) };
export const WORST_WAIT: Measure = {
  label: 'longest wait s',
  of: (run) => run.worst_waiting?.seconds ?? 0,
  show: integer,
};
export const REFUSED: Measure = {
  label: 'refused calls',
  of: (run) => Object.values(run.refused).reduce((sum, count) => sum + count, 0),
  show: integer,
};
export const LOST: Measure = { label: 'lost', of: (run) => run.lost, show: integer };
export const RETRIES: Measure = {
  label: 'retries',
  of: (run) => Object.values(run.retries).reduce((sum, count) => sum + count, 0),
  show: integer,
};

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
    const values = this.#of(one).flatMap((run) => (run ? (of(run) ?? []) : []));
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
  }

  shown(one: Case, measure: Measure): string {
    return measure.show(this.mean(one, measure));
  }

  /** Ratio of the other to the first, over the programs that both completed: below 1 the other's value is smaller. */
  ratio(first: Case, other: Case, { of }: Measure): Ratio {
    const others = this.#of(other);
    const pairs = this.#of(first).flatMap((run, seed): Pair[] => {
      const twin = others[seed];
      if (run === undefined || twin === undefined) return [];
      const [one, two] = overSamePrograms(run, twin).map(of) as [number | null, number | null];
      return one === null || two === null ? [] : [[one, two]];
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

export const ratioText = ({ ratio: value, low, high }: Ratio): string =>
  low === null || high === null || low === high ? ratio(value) : `${ratio(value)} (${ratio(low)}–${ratio(high)})`;

const times = (factor: number, value: number | null): number | null => (value === null ? null : factor * value);
