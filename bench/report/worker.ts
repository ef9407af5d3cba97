import { type Case, runCase, type RunMeasures, serveRuns, type Surroundings } from '../../lab/index.js';

/** The task of a report's runs. Run `index` is of case `index / seeds`, rounded down, with seed `index mod seeds`. */
export interface ReportTask {
  readonly cases: readonly Case[];
  readonly seeds: readonly number[];
  readonly around: Surroundings;
}

serveRuns((task) => {
  const { cases, seeds, around } = task as ReportTask;
  return (index, hooks): RunMeasures => {
    const one = cases[Math.floor(index / seeds.length)];
    const seed = seeds[index % seeds.length];
    if (one === undefined || seed === undefined) throw new RangeError(`there is no run ${index}`);
    return runCase(one, seed, around, hooks);
  };
});
