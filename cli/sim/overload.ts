import { hasFewWaits } from '../../lab/index.js';
import {
  CLEAR,
  FILLS,
  isLossy,
  isOverload,
  KEEPS_UP_PROGRAMS_MIN,
  moreToTell,
  resultOf,
} from '../../loadtest/report/index.js';
import type { Arrivals } from '../../workloads/index.js';
import { AXES, type Values } from './axes.js';
import type { Plan } from './plan.js';
import type { RunReport } from './worker.js';

/** Share of calls that may wait in an engine, and be few. */
const ENGINE_WAITS = 0.05;
/** Share of the seeds that must agree. Where fewer do, the load is about the most that a setting sustains. */
const AGREEING = 0.75;

/** In which seeds a variant is overloaded, by the rule of load tests, and in which not; whether that tells, and whether it is enough. */
export function loadOf({ variants, slos }: Plan, runs: readonly RunReport[], variant: number) {
  const signs = signsOf(variants, runs, variant);
  const seedsOf = (sign: boolean): ReadonlySet<number> =>
    new Set(signs.filter((each) => each.sign === sign).map(({ run }) => run.seed));
  const [overloaded, sustained, seeds] = [seedsOf(true), seedsOf(false), signs.length];
  const kept = signs.filter(
    ({ sign, run }) => sign !== true && slos.every((slo) => resultOf(slo, null, run).met),
  ).length;
  const agree = (some: number) => some > 0 && some >= AGREEING * seeds;
  const few = sustained.size + overloaded.size < AGREEING * seeds ? 'unknown' : 'split';
  const state = agree(overloaded.size) ? 'overloaded' : agree(sustained.size) ? 'sustained' : few;
  return {
    seeds,
    overloaded,
    sustained,
    state,
    /** Whether the load can be sustained, or nearly: times at others grow with the number of programs. */
    isHeld: 2 * overloaded.size < seeds,
    /** In how many seeds it is not overloaded, and meets the objectives; whether in most; and whether that is known. */
    kept,
    isMet: 2 * kept > seeds,
    isKept: 2 * kept > seeds && state !== 'unknown',
  } as const;
}

/** For each seed, whether the variant is overloaded. A run too short to tell is where the seed’s lighter loads are. */
function signsOf(variants: Plan['variants'], runs: readonly RunReport[], variant: number) {
  const own = variants[variant];
  const lighter = variants.flatMap((each, at) =>
    own !== undefined && at !== variant && isLighter(each.values, own.values) ? [at] : [],
  );
  return runs.flatMap((run) => {
    if (run.variant !== variant) return [];
    const sign = signOf(run, own?.arrivals);
    const isOver =
      sign === null &&
      runs.some(
        (other) => other.seed === run.seed && lighter.includes(other.variant) && signOf(other, own?.arrivals) === true,
      );
    return [{ run, sign: isOver ? true : sign }];
  });
}

/** Whether the load is lower, or divided among more engines, and all else is the same. */
const isLighter = (one: Values, other: Values): boolean =>
  (one.rate ?? 0) <= (other.rate ?? 0) &&
  (one.engines ?? 1) >= (other.engines ?? 1) &&
  AXES.every((axis) => axis === 'rate' || axis === 'engines' || one[axis] === other[axis]);

function signOf(run: RunReport, arrivals: Arrivals | undefined): boolean | null {
  // A recording is as it is: no more of its programs will come.
  if (arrivals?.type !== 'open') return false;
  const { queue_grew: grew, queue_seconds: queue, program_seconds: program, slowdown, programs } = run;
  const queueing = { ...program, mean: ((queue.mean ?? 0) * queue.count) / program.count };
  const alone = aloneOf(run);
  // However few programs there are: what is much slower than alone is no chance.
  const signs = {
    arrivals_seconds: null,
    alone_seconds: null,
    program_seconds: program,
    program_queue_seconds: queueing,
    slowdown,
  };
  const lasted = programs / arrivals.ratePerSecond;
  const isOver = isOverload(grew, signs);
  if (grew === null || isOver === true)
    return isOver === true && lasted < FILLS * (program.mean ?? 0) && (slowdown.mean ?? 0) < CLEAR ? null : grew;
  return moreToTell({ arrivals_seconds: lasted, alone_seconds: alone }) === undefined ? false : null;
}

export const aloneOf = ({ program_seconds: { mean }, slowdown }: RunReport): number | null =>
  mean === null || !slowdown.mean ? null : mean / slowdown.mean;

/** Whether at most 1 in 20 calls waited at the gateway, and as few in its engine: nothing that scheduling could change. */
export const isUnloaded = (run: RunReport): boolean =>
  hasFewWaits(run.queue_seconds) && run.engine_waits <= ENGINE_WAITS * run.calls && !isLossy(run);

/** Whether so many programs of a variant fail that the others tell nothing. */
export function isLost(all: readonly RunReport[], at: number): boolean {
  const runs = all.filter(({ variant }) => variant === at);
  const sum = (name: 'failed' | 'programs') => runs.reduce((total, run) => total + run[name], 0);
  return isLossy({ failed: sum('failed'), programs: sum('programs') });
}

/** Programs of an advised command at most, where no fewer would tell. */
const TELLING_MAX = 20_000;
/** Room for chance: other programs take longer, or arrive sooner. */
export const AMPLE = 1.25;
/** Times the programs, where the last to end hides whether the queue grew. */
const LAST_ENDS = 4;

/** Programs of a run that would tell whether a variant sustains its rate; undefined: too many, or these do. */
export function programsToTell({ programs, variants }: Plan, runs: readonly RunReport[], variant: number) {
  const { arrivals } = variants[variant] ?? {};
  if (arrivals?.type !== 'open') return undefined;
  const lasted = programs / arrivals.ratePerSecond;
  const own = runs.filter((run) => run.variant === variant);
  const spans = (run: RunReport) =>
    Math.max(
      moreToTell({ arrivals_seconds: lasted, alone_seconds: aloneOf(run) }) ?? 0,
      (FILLS * (run.program_seconds.mean ?? 0)) / lasted,
    );
  // Where it is not the mean program that takes too long, it is the last one to end.
  const more = Math.max(...own.map((run) => (spans(run) > 1 ? spans(run) : LAST_ENDS)));
  const needed = Math.max(KEEPS_UP_PROGRAMS_MIN, 100 * Math.ceil((AMPLE * more * programs) / 100));
  return needed > programs && needed <= TELLING_MAX ? needed : undefined;
}
