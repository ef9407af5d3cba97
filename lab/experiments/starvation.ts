import { number } from '../../text/index.js';
import { SIM_POLICIES } from '../../sim/index.js';
import type { Setup } from './case.js';
import type { Experiment } from './experiment.js';
import { caseOf, crossed, fleet, inProduction, mixedHeld, recorded } from './loads.js';
import { LOST, programTime, PROMOTIONS, REFUSED, RETRIES, WORST_WAIT, type Measure } from './results.js';

const POLICIES: readonly Setup[] = SIM_POLICIES.map((policy) => ({ policy }));

const quarter = (index: number): Measure => ({
  label: `${['1st', '2nd', '3rd', '4th'][index] ?? ''} quarter p99 s`,
  of: (run) => run.by_size[index]?.program_seconds.p99 ?? null,
  show: number,
});

const COLUMNS = [
  WORST_WAIT,
  PROMOTIONS,
  programTime('mean'),
  LOST,
  REFUSED,
  RETRIES,
  programTime('p99'),
  ...[0, 1, 2, 3].map(quarter),
];

export const starvation: Experiment = {
  name: 'starvation',
  title: 'Who waits longest, in production',
  about:
    'Who pays for what short programs gain? For each policy the longest wait of one call before an engine had it (`pass-through` holds nothing back: its calls wait inside the engines), and the 99th percentile of program time by quarters of the programs, from those with the fewest tokens to those with the most. The conditions are `production` of docs/SIMULATOR.md. `srpt` has no anti-starvation.',
  recordings: ['mini-swe-agent'],
  plan(scale) {
    const loads = [mixedHeld(scale), fleet(scale), ...recorded('mini-swe-agent', scale)].map(inProduction);
    return {
      cases: crossed(loads, POLICIES),
      tell: (results) =>
        loads.map((load) => {
          const rows = POLICIES.map((setup) => [setup.policy, caseOf(load, setup)] as const);
          return results.table(`${load.name}: who waits`, 'policy', COLUMNS, rows);
        }),
    };
  },
};
