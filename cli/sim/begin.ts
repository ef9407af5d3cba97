import { KEEPS_UP_PROGRAMS_MIN, moreToTell } from '../../loadtest/report/index.js';
import type { Searched } from './axes.js';
import { PROGRAMS_MAX, STEADY } from './loads.js';
import { aloneOf, AMPLE, isUnloaded, loadOf } from './overload.js';
import { type Plan, withValues } from './plan.js';
import type { RunReport } from './worker.js';

/** Looks are at the first setting with few seeds; steps of two lead from any value to any other that matters. */
const SEEDS = 2;
const LOOKS = 16;
/** All at once: what the engines then serve is near what they can. */
const BURST = { type: 'open', ratePerSecond: 1e6, cv: 1 } as const;
/** The most engines, or programs at a time. */
export const LOAD_MAX = 4096;
/** Times of the longest program for which others must arrive, so that the last to end tell more than their own length. */
const LAST_SPANS = 3;
/** The same of the mean program: near the most that engines bear, it takes up to twice its time under a load that they do. */
const MEAN_SPANS = 12;

/** Calls of a run under which a burst of short programs passes for an overload. */
const CALLS_MIN = 2000;

/** How many times as many at a time a search goes on to. */
const HIGHER = 4;

/** Makes all runs of a plan; when stopped, some of them. */
export type Run = (trial: Plan) => Promise<readonly RunReport[]>;

/** The hardest value that the first setting bears, in steps of two, and how many programs tell what it bears. */
export async function beginOf(plan: Plan, axis: Searched, isSized: boolean, run: Run) {
  const trialAt = (value: number, programs: number): Plan => {
    const trial = withValues({ ...plan, programs, seeds: plan.seeds.slice(0, SEEDS) }, axis, [value]);
    return { ...trial, variants: trial.variants.slice(0, 1) };
  };
  const one = trialAt(axis === 'rate' ? BURST.ratePerSecond : 1, plan.programs);
  const [burst] = await run({ ...one, variants: one.variants.map((first) => ({ ...first, arrivals: BURST })) });
  let spanSeconds = 0;
  const sizeAt = (value: number) =>
    isSized || plan.variants[0]?.arrivals.type === 'trace'
      ? plan.programs
      : Math.max(plan.programs, sizeOf(trialAt(value, plan.programs), burst, spanSeconds));
  const served = burst?.programs_per_second || 1;
  const [given] = one.variants.map(({ arrivals }) => (arrivals.type === 'open' ? arrivals.ratePerSecond : served));
  let value = { rate: twoDigits(2 * served), engines: Math.ceil((given ?? served) / served / 2), concurrency: 2 }[axis];
  let borne: number | undefined;
  for (let look = 0; look < LOOKS && (burst?.completed ?? 0) > 0; look += 1) {
    const trial = trialAt(value, sizeAt(value));
    const runs = await run(trial);
    if (runs.length === 0) break;
    const { state, isKept } = loadOf(trial, runs, 0);
    if (state !== 'overloaded')
      spanSeconds = Math.max(
        ...runs.map(({ program_seconds: { mean, max } }) =>
          Math.max(MEAN_SPANS * (mean ?? 0), LAST_SPANS * (max ?? 0)),
        ),
      );
    if (state === 'unknown' && sizeAt(value) > trial.programs) continue;
    const isBorne = axis === 'concurrency' ? runs.every(isUnloaded) : isKept;
    if (isBorne) borne = value;
    const next = HARDER[axis](value, isBorne ? 2 : 1 / 2);
    // More engines do not tell more of so few programs, nor does a lighter load help much where no call waits.
    const isVain = state === 'unknown' ? axis === 'engines' : !isBorne && runs.every(isUnloaded);
    if (
      isVain ||
      (!isBorne && borne !== undefined) ||
      next === value ||
      next === borne ||
      next > Math.min(LOAD_MAX, axis === 'concurrency' ? PROGRAMS_MAX : Infinity)
    )
      break;
    value = next;
  }
  const begin = borne ?? value;
  return { value: begin, programs: sizeAt(axis === 'rate' ? 2 * begin : begin) };
}

const HARDER: Readonly<Record<Searched, (value: number, times: number) => number>> = {
  rate: (value, times) => twoDigits(value * times),
  concurrency: (value, times) => Math.max(1, Math.ceil(value * times)),
  engines: (value, times) => Math.ceil(value / times),
};

/** How many programs tell what is sustained, or, of a number at a time, how long each takes. */
function sizeOf({ variants: [first], searched }: Plan, burst: RunReport | undefined, spanSeconds: number): number {
  const { arrivals } = first ?? {};
  const perSecond = arrivals?.type === 'open' ? arrivals.ratePerSecond : 0;
  const more = moreToTell({
    arrivals_seconds: 1 / perSecond,
    alone_seconds: burst === undefined ? null : aloneOf(burst),
  });
  const needed =
    arrivals?.type === 'closed'
      ? (searched === 'concurrency' ? HIGHER : 1) * STEADY * arrivals.concurrency
      : AMPLE * Math.max(more ?? 1, spanSeconds * perSecond);
  const least = burst === undefined || arrivals?.type === 'closed' ? 0 : (CALLS_MIN * burst.programs) / burst.calls;
  return Math.max(
    KEEPS_UP_PROGRAMS_MIN,
    Math.min(PROGRAMS_MAX, 100 * Math.ceil(needed / 100)),
    100 * Math.ceil(least / 100),
  );
}

export const twoDigits = (rate: number): number => Number(rate.toPrecision(2));
