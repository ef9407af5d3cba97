import { meanOf } from '../../lab/index.js';
import { KEEPS_UP_PROGRAMS_MIN, moreToTell } from '../../loadtest/report/index.js';
import { RANGE_VALUES, RUNS_MAX } from './lists.js';
import { loadsOf, otherLoads, PROGRAMS_MAX, type Reach, SPAN, twoDigits } from './loads.js';
import { aloneOf, AMPLE, isUnloaded, loadOf } from './overload.js';
import { choicesOf, type Plan } from './plan.js';
import { verdictsOf } from './recommendation.js';
import type { RunReport } from './worker.js';

const SEEDS = 8;
const QUICK_SEEDS = 2;
/** Looks at most: from any rate to any other that matters, in steps of two. */
const LOOKS = 16;
/** Shares of an overloaded run are those of its end, where few programs are left. */
const SERVED = 4;
const BUSY_MIN = 0.05;

/**
 * The rate to go on from where these runs tell little: the first setting is tried at half the rate, or twice, until it
 * sustains one and not the next. A lower one is then tried by the very runs that the next command makes there.
 * @param run makes all runs of a plan, and none when stopped: then nothing is sustained
 */
export async function reachOf(
  plan: Plan,
  runs: readonly RunReport[],
  run: (trial: Plan) => Promise<readonly RunReport[]>,
): Promise<Reach | undefined> {
  const { values: loads } = loadsOf(plan);
  const [least = 0, most = 0, first] = [loads[0], loads.at(-1), plan.variants[0]];
  const direction = otherLoads(plan, runs, verdictsOf(plan, runs));
  if (direction === undefined || first === undefined || first.arrivals.type === 'trace') return undefined;
  const { arrivals } = first;
  const alone = meanOf(runs.filter(({ variant }) => variant === 0).map(aloneOf));
  const room = Math.floor(RUNS_MAX / (RANGE_VALUES * choicesOf(plan)));
  const count = Math.min(room, Math.max(SEEDS, plan.seeds.length));
  const seeds = plan.seeds.length === count ? plan.seeds : Array.from({ length: count }, (_, at) => at + 1);
  const programsFor = (load: number) => {
    if (arrivals.type === 'closed') return Math.max(plan.programs, Math.min(PROGRAMS_MAX, 8 * load));
    const needed = plan.programs * AMPLE * (moreToTell({ arrivals_seconds: plan.programs / load, alone_seconds: alone }) ?? 0); // prettier-ignore
    return Math.max(plan.programs, KEEPS_UP_PROGRAMS_MIN, Math.min(PROGRAMS_MAX, 10 * Math.ceil(needed / 10)));
  };
  // A number at a time is always sustained: it is looked for where calls begin to wait.
  const isSustained = async (load: number, tried: Pick<Plan, 'programs' | 'seeds'>) => {
    const at = arrivals.type === 'closed' ? { ...arrivals, concurrency: load } : { ...arrivals, ratePerSecond: load };
    const trial = { ...plan, ...tried, variants: [{ ...first, arrivals: at }] };
    const trials = await run(trial);
    return arrivals.type === 'closed' ? trials.length > 0 && load < PROGRAMS_MAX && trials.every(isUnloaded) : loadOf(trial, trials, 0).state === 'sustained'; // prettier-ignore
  };
  const served = SERVED * Math.max(...runs.map((each) => each.programs_per_second ?? 0));
  const busy = Math.max(BUSY_MIN, ...runs.map(({ engine_busy }) => engine_busy ?? 1));
  const isClosed = arrivals.type === 'closed';
  const reachFrom = (load: number): Reach => ({ load, programs: programsFor(SPAN * load), seeds });
  let load = twoDigits(isClosed ? 2 * most : direction === 'lower' ? Math.min(least / 2, served || Infinity) : direction === 'longer' ? Math.min(most, served || most) : most / busy); // prettier-ignore
  // Of loads too low to tell, the highest is often known to be sustained.
  const isKnown = direction === 'higher' && loadOf(plan, runs, (loads.length - 1) * choicesOf(plan)).state === 'sustained'; // prettier-ignore
  const floor = isKnown ? most : 0;
  let [sustained, isBounded]: [Reach | undefined, boolean] = [undefined, false];
  for (let look = 0; look < LOOKS && load > floor && (sustained === undefined || !isBounded); look += 1) {
    const next = reachFrom(load);
    const isLikely = await isSustained(load, { programs: programsFor(load), seeds: seeds.slice(0, QUICK_SEEDS) });
    const isSure = isLikely && (direction !== 'lower' || (await isSustained(load, next)));
    if (isSure) sustained = next;
    else isBounded = true;
    load = twoDigits(isSure ? load * 2 : load / 2);
  }
  return sustained ?? (floor > 0 ? reachFrom(floor) : undefined);
}
