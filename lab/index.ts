/**
 * Measuring and reporting: the figures of runs, the standing experiments, and their answers as tables and charts.
 *
 * Reading guide:
 * - `measure/run.ts`: one simulated run and its figures; `measure/comparison.ts` compares runs of the same seeds.
 * - `experiments/experiments.ts`: the standing questions, each with its loads, policies and table.
 * - `report/`: text tables, charts and Markdown. It does not know the meaning of the figures.
 * - `threads/`: many runs at a time, each in a thread.
 */
export * from './experiments/case.js';
export { fullScale, smokeScale } from './experiments/experiment.js';
export { EXPERIMENTS } from './experiments/experiments.js';
export { Results } from './experiments/results.js';
export { type Surroundings, runCase } from './experiments/run-case.js';
export { Backlog, type RunHooks, type RunMeasures, measureRun, shownFrom } from './measure/run.js';
export {
  MARGIN,
  moreOf,
  overSamePrograms,
  type Ratio,
  pairedRatio,
  PAIRS_LAST,
  verdictOf,
  pairOf,
} from './measure/comparison.js';
export { WorkloadGroup, Gathering } from './measure/measures.js';
export { type Distribution, Sample, type Statistic, hasFewWaits, p99Of, tailOf } from './measure/sample.js';
export * from './report/grid.js';
export { headline, tailName, type Change, type Cost, type KindTimes, type Times } from './report/headline.js';
export { breakEvenOf } from './report/break-even.js';
export {
  BOTH_OVERLOADED,
  isMany,
  isMore,
  namesOf,
  placeVerdict,
  type PlaceRow,
  type PlaceVerdict,
} from './report/places.js';
export { markdownOf, type Report, drawCharts } from './report/report.js';
export { Pool, untilEnded, serveRuns } from './threads/pool.js';
