import { makeRandom, printTable, show } from '../numbers.js';
import { load } from '../packages.js';
import { ranksOf, sharedBy } from './orders.js';
import { jobOf, type Job } from './play.js';
import { fileOf, WORKFLOWS, type Workflow } from './workflows.js';

/** How far the plan's order is from the best one in Helium's cost model (its section 5), on instances small enough to solve. */

/** Tokens of the worker's cache, as in the paper's comparison. */
const CACHE_TOKENS = 8192;
const BLOCK_TOKENS = 64;
const RANDOM_ORDERS = 200;
const SOLVE_SECONDS = 120;

interface Solver {
  readonly solve: (problem: string, options: object) => { readonly Status: string; readonly ObjectiveValue: number };
}

/** The costs of a job's calls on one worker, in token steps. */
interface Costs {
  readonly count: number;
  /** Token usage of a call behind another; -1: of the first one. */
  readonly usage: (before: number, call: number) => number;
  /** Steps after a call's end before those that need it may start. */
  readonly delay: (call: number) => number;
  readonly needs: readonly (readonly number[])[];
}

function costsOf(job: Job): Costs {
  const { outlines, plan } = job;
  return {
    count: outlines.length,
    usage: (before, call) => {
      const { promptTokens = 0, outputTokens = 0 } = outlines[call] ?? {};
      const computed = promptTokens - (before < 0 ? 0 : sharedBy(job, before, call) * BLOCK_TOKENS);
      return (outputTokens * computed + (outputTokens * (outputTokens + 1)) / 2) / CACHE_TOKENS;
    },
    delay: (call) => outlines[call]?.outputTokens ?? 0,
    needs: plan.needs,
  };
}

/** Makespan of a greedy schedule: of the calls that may start, the one with the least rank; else the first that may. */
function makespan({ count, usage, delay, needs }: Costs, rankOf: (call: number, last: number) => number): number {
  const left = new Set(Array.from({ length: count }, (_, call) => call));
  const ends: number[] = [];
  let [now, last] = [0, -1];
  while (left.size > 0) {
    const from = (call: number): number =>
      Math.max(now, ...(needs[call] ?? []).map((need) => (ends[need] ?? Infinity) + delay(need)));
    const before = last;
    const [first = 0] = [...left].sort((a, b) => from(a) - from(b) || rankOf(a, before) - rankOf(b, before));
    now = from(first) + usage(last, first);
    ends[first] = now;
    left.delete(first);
    last = first;
  }
  return now;
}

/** The least makespan, as a mixed integer program: `x` is 1 for a call right behind another, `c` is a call's end. */
function optimum(
  { count, usage, delay, needs }: Costs,
  solver: Solver,
  bound: number,
): { value: number; isExact: boolean } {
  const calls = Array.from({ length: count }, (_, call) => call);
  const x = (before: number, call: number): string => `x${before + 1}_${call}`;
  const behind = (call: number) => [-1, ...calls].filter((before) => before !== call);
  const rows: string[] = [];
  const sum = (names: readonly string[]): string => names.join(' + ');
  for (const call of calls) {
    rows.push(`${sum(behind(call).map((before) => x(before, call)))} = 1`);
    const next = calls.filter((other) => other !== call).map((other) => x(call, other));
    rows.push(`${sum(next)} <= 1`, `t - c${call} >= 0`);
    const used = behind(call).map((before) => `- ${usage(before, call)} ${x(before, call)}`);
    rows.push(`c${call} ${used.join(' ')} >= 0`);
    for (const need of needs[call] ?? []) rows.push(`c${call} ${used.join(' ')} - c${need} >= ${delay(need)}`);
    for (const before of behind(call).slice(1))
      rows.push(`c${call} - c${before} - ${bound + usage(before, call)} ${x(before, call)} >= ${-bound}`);
  }
  rows.push(`${sum(calls.map((call) => x(-1, call)))} = 1`);
  const binaries = calls.flatMap((call) => behind(call).map((before) => x(before, call)));
  const problem = [
    'Minimize',
    ' obj: t',
    'Subject To',
    ...rows.map((row, at) => ` r${at}: ${row}`),
    'Bounds',
    ` t <= ${bound}`,
    'Binary',
    ` ${binaries.join(' ')}`,
    'End',
  ].join('\n');
  const { Status, ObjectiveValue } = solver.solve(problem, { time_limit: SOLVE_SECONDS, mip_rel_gap: 0.001 });
  return { value: ObjectiveValue, isExact: Status === 'Optimal' };
}

const named = (name: string): Workflow => WORKFLOWS.find((each) => each.name === name) as Workflow;

/** Small instances of the workflows, as the paper's table 6: a few queries over one document. */
const INSTANCES: readonly (readonly [string, Workflow])[] = (
  [
    ['map-reduce', 1],
    ['map-reduce', 2],
    ['reflection', 2],
    ['reflection', 3],
    ['iterative', 3],
    ['parallel', 2],
    ['debate', 1],
    ['debate', 2],
  ] as const
).map(([name, queries]) => [`${name}, ${queries}`, { ...named(name), queries }]);

export async function benchGap(quick: boolean): Promise<void> {
  const solver = await (load('highs') as () => Promise<Solver>)();
  const rows = (quick ? [2, 4, 6].flatMap((at) => INSTANCES.slice(at, at + 1)) : INSTANCES).map(([name, workflow]) => {
    const job = jobOf(fileOf(workflow));
    const costs = costsOf(job);
    const ranks = ranksOf(job.plan.order);
    const planned = makespan(costs, (call) => ranks[call] ?? 0);
    const nearest = makespan(costs, (call, last) => costs.usage(last, call) - costs.usage(-1, call));
    const random = makeRandom(1);
    const chances = Array.from({ length: RANDOM_ORDERS }, () => {
      const dice = ranks.map(() => random());
      return makespan(costs, (call) => dice[call] ?? 0);
    });
    const best = Math.min(planned, nearest, ...chances);
    const { value, isExact } = optimum(costs, solver, best + 1);
    const gap = (steps: number) => `${(100 * (steps / value - 1)).toFixed(2).replace('-0.00', '0.00')} %`;
    const mean = chances.reduce((all, steps) => all + steps, 0) / chances.length;
    return [name, `${costs.count}`, show(value), isExact ? 'yes' : 'no', gap(planned), gap(nearest), gap(mean), gap(Math.min(...chances))]; // prettier-ignore
  });
  printTable(['queries', 'calls', 'least token steps', 'proven', 'planned', 'longest shared prefix', 'random', 'best of 200'], rows); // prettier-ignore
}
