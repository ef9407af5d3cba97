import { meanOf } from '../../lab/index.js';
import { KEEPS_UP_PROGRAMS_MIN, moreToTell } from '../../loadtest/report/index.js';
import { RUNS_MAX } from './lists.js';
import { otherLoads, ratesOf, type Reach, SPAN, twoDigits } from './loads.js';
import { aloneOf, loadOf } from './overload.js';
import { choicesOf, type Plan } from './plan.js';
import { verdictsOf } from './recommendation.js';
import type { RunReport } from './worker.js';

const RANGE = 5;
const SEEDS = 8;
const QUICK_SEEDS = 2;
/** Looks at most: from any rate to any other that matters, in steps of two. */
const LOOKS = 16;
/** Programs of a look at most, unless the command has more: what is overloaded shows it earlier. */
const PROGRAMS_MAX = 2000;
/** Room for chance: other programs take longer, or arrive sooner. */
const AMPLE = 1.25;
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
  const rates = ratesOf(plan);
  const [least = 0, most = 0, first] = [rates[0], rates.at(-1), plan.variants[0]];
  const direction = otherLoads(plan, runs, verdictsOf(plan, runs));
  if (direction === undefined || first?.arrivals.type !== 'open') return undefined;
  const { arrivals } = first;
  const alone = meanOf(runs.filter(({ variant }) => variant === 0).map(aloneOf));
  const count = Math.min(SEEDS, Math.floor(RUNS_MAX / (RANGE * choicesOf(plan))));
  const seeds = plan.seeds.length >= count ? plan.seeds : Array.from({ length: count }, (_, at) => at + 1);
  const programsFor = (rate: number) => {
    const needed = plan.programs * AMPLE * (moreToTell({ arrivals_seconds: plan.programs / rate, alone_seconds: alone }) ?? 0); // prettier-ignore
    return Math.max(plan.programs, KEEPS_UP_PROGRAMS_MIN, Math.min(PROGRAMS_MAX, 10 * Math.ceil(needed / 10)));
  };
  const isSustained = async (rate: number, tried: Pick<Plan, 'programs' | 'seeds'>) => {
    const trial = { ...plan, ...tried, variants: [{ ...first, arrivals: { ...arrivals, ratePerSecond: rate } }] };
    return loadOf(trial, await run(trial), 0).state === 'sustained';
  };
  const served = SERVED * Math.max(...runs.map((each) => each.programs_per_second ?? 0));
  const busy = Math.max(BUSY_MIN, ...runs.map(({ engine_busy }) => engine_busy ?? 1));
  let rate = twoDigits(direction === 'lower' ? Math.min(least / 2, served || Infinity) : direction === 'longer' ? Math.min(most, served || most) : most / busy); // prettier-ignore
  let [sustained, isBounded]: [Reach | undefined, boolean] = [undefined, false];
  for (let look = 0; look < LOOKS && (sustained === undefined || !isBounded); look += 1) {
    const next = { rate, programs: programsFor(SPAN * rate), seeds };
    const isLikely = await isSustained(rate, { programs: programsFor(rate), seeds: seeds.slice(0, QUICK_SEEDS) });
    const isSure = isLikely && (direction !== 'lower' || (await isSustained(rate, next)));
    if (isSure) sustained = next;
    else isBounded = true;
    rate = twoDigits(isSure ? rate * 2 : rate / 2);
  }
  return sustained;
}
