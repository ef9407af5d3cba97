import { serveRuns } from '../../lab/index.js';
import { combinationsOf, type Plan } from './plan.js';
import { runOne } from './run.js';

/** A thread of `maitred sim`: each run of a plan is of one of its combinations. */
serveRuns((task) => {
  const plan = task as Plan;
  const combinations = combinationsOf(plan);
  return (index, hooks) => {
    const combination = combinations[index];
    if (combination === undefined) throw new RangeError(`there is no run ${index}`);
    return runOne(plan, combination, hooks);
  };
});
