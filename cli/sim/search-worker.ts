import { searchLoad } from './load-search.js';
import type { Plan } from './plan.js';
import { serveRuns } from './thread.js';

/** A thread of `maitred sim` that makes all runs of one search: each thread takes half a second to start. */
serveRuns((task) => (_, hooks) => searchLoad(task as Plan, hooks));
