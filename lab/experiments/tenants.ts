import { number, percent } from '../../text/index.js';
import type { Setup } from './case.js';
import type { Experiment } from './experiment.js';
import { crossed, rowsOf, tenants as loadOf } from './loads.js';
import { LOST, measure, programTime, WORST_WAIT } from './results.js';

const SETUPS = {
  'pass-through': { policy: 'pass-through' },
  'fcfs-window': { policy: 'fcfs-window' },
  plas: { policy: 'plas' },
  'plas, weighted': { policy: 'plas', settings: { 'policy.tenants': 'weighted' } },
} satisfies Record<string, Setup>;

const KINDS = ['light', 'medium', 'heavy', 'burst'];

const onTime = (kind: string) => measure(`${kind} on time`, (run) => run.by_workload[kind]?.on_time ?? null, percent);
const slowdown = (kind: string) =>
  measure(`${kind} slowdown`, (run) => run.by_workload[kind]?.slowdown.mean ?? null, number);

const COLUMNS = [...KINDS.map(onTime), ...KINDS.map(slowdown), programTime('mean'), WORST_WAIT, LOST];

export const tenants: Experiment = {
  name: 'tenants',
  title: 'Tenants of mixed intensity',
  about:
    'Do light tenants get their share beside heavy ones? Ten tenants after SAGA’s experiment on fairness: three light ones, four medium ones and three heavy ones, one of which makes its calls in bursts. A program is on time if it takes at most 1.5 times as long as on an engine of its own. That time includes no other program in the engine, so a batch alone makes some programs late.',
  recordings: [],
  plan(scale) {
    const loads = scale.points([0.4, 0.8]).map((rate) => loadOf(scale, rate));
    return {
      cases: crossed(loads, Object.values(SETUPS)),
      tell: (results) =>
        loads.map((load) =>
          results.table(`${load.name}: who is on time`, 'policy, division', COLUMNS, rowsOf(load, SETUPS)),
        ),
    };
  },
};
