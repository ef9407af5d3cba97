import { type Plan, settingOf } from '../../cli/sim/plan.js';
import { recommend } from '../../cli/sim/recommendation.js';
import { verdictsOf } from '../../cli/sim/verdicts.js';
import type { RunReport } from '../../cli/sim/worker.js';
import { madeUp, spread } from '../support/sim-plans.js';

const RATES = [0.1, 0.2, 0.4];
export const POLICIES = ['pass-through', 'fcfs-window', 'plas', 'srpt'] as const;
export const SEEDS = [1, 2, 3];
export const SEEDS_8 = [1, 2, 3, 4, 5, 6, 7, 8];

/** Runs in which a program takes as many seconds as the table says, for each rate and policy; seeds differ a little. */
export function outcome(
  table: readonly (readonly number[])[],
  change: (run: RunReport, at: number) => Partial<RunReport> = () => ({}),
  seeds: readonly number[] = SEEDS,
  searched?: 'rate',
  programs = 300,
) {
  const secondsOf = (variant: number) => table[Math.floor(variant / POLICIES.length)]![variant % POLICIES.length]!;
  const { plan, runs } = madeUp({ rate: RATES, policy: POLICIES }, { seeds, searched, programs }, (at, seed) => ({
    program_seconds: spread(secondsOf(at) * (1 + seed / 1000)),
    queue_grew: at >= 8,
  }));
  const changed = runs.map((run) => ({ ...run, ...change(run, run.variant) }));
  return { ...recommend(plan, changed)!, rows: rowsOf(plan, changed) };
}

/** What each setting changes: a line for each load. */
export const rowsOf = (plan: Plan, runs: readonly RunReport[]) =>
  verdictsOf(plan, runs).map(
    ({ place, rows, variants }) =>
      `${place}: ${rows.map(({ at, outcome }) => `${settingOf(plan, variants[at]!)} ${outcome}`).join('; ')}`,
  );
