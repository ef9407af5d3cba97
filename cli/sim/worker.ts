import { searchLoad } from './load-search.js';
import { combinationsOf, type Plan } from './plan.js';
import { runOne } from './run.js';
import { serveRuns } from './thread.js';

/** The runs of a plan, each of one of its combinations; or one search, whose runs share a thread. */
export type SimTask = Plan | { readonly search: Plan };

/** A thread of `maitred sim`. */
serveRuns((given) => {
  const task = given as SimTask;
  if ('search' in task) return (_, hooks) => searchLoad(task.search, hooks);
  const combinations = combinationsOf(task);
  return (index, hooks) => {
    const combination = combinations[index];
    if (combination === undefined) throw new RangeError(`there is no run ${index}`);
    return runOne(task, combination, hooks);
  };
});
