import { ratio } from '../../text/index.js';
import { cross, RECORDING_NAMES, type Setup } from './case.js';
import type { Experiment } from './experiment.js';
import type { Block } from '../report/plot.js';
import { atEfficiency, crossed, EFFICIENCIES, inProduction, recorded as loadsOf, rowsOf, type Load } from './loads.js';
import { HITS, LOST, perToken, programTime, REFUSED, RETRIES, WORST_WAIT, type Results } from './results.js';

const ungated = { 'admission.gate': 0 };

const SETUPS = {
  'pass-through': { policy: 'pass-through' },
  'fcfs-window, no gate': { policy: 'fcfs-window', settings: ungated },
  'fcfs-window + gate': { policy: 'fcfs-window' },
  'plas, no gate': { policy: 'plas', settings: ungated },
  'plas + gate (default)': { policy: 'plas' },
  'srpt + gate': { policy: 'srpt' },
} satisfies Record<string, Setup>;

/** The bars of the chart, which also run at the low and the high efficiency. */
const BARS = {
  'pass-through': SETUPS['pass-through'],
  'gate alone': SETUPS['fcfs-window + gate'],
  'gate and order (default)': SETUPS['plas + gate (default)'],
  'knows the future': SETUPS['srpt + gate'],
} satisfies Record<string, Setup>;

const COLUMNS = [
  programTime('mean'),
  LOST,
  REFUSED,
  RETRIES,
  programTime('p95'),
  programTime('p99'),
  perToken('mean'),
  HITS,
  WORST_WAIT,
];

export const recorded: Experiment = {
  name: 'recorded',
  title: 'Recorded agents whose contexts outgrow the KV cache',
  about:
    'What does each half of the scheduler bring to real coding agents: the order of calls, and the gate that keeps the working set within the KV cache? Programs of three recordings arrive at random (Poisson) at two engines, with their sizes and gaps; gaps above a minute are played as a minute. `mini-swe-agent` and `agentcgroup` are served by `llama-3.1-8b-a100`; `weka`, Claude Code sessions whose prompts reach 756,000 tokens, by the same with a context of 262,144 tokens, and what is longer is refused. Each load runs twice: under the conditions `production` of docs/SIMULATOR.md, and without failures, where nothing fails and clients wait as long as it takes. Ranges are those of the low and the high efficiency of the preset (docs/TRUST.md). Limits and timeouts are the gateway’s own. `srpt` knows the future, and has no anti-starvation.',
  recordings: RECORDING_NAMES,
  plan(scale) {
    const kind = RECORDING_NAMES.flatMap((name) => loadsOf(name, scale));
    const loads = kind.flatMap((load) => [inProduction(load), load]);
    const bounds = EFFICIENCIES.flatMap((efficiency) => kind.map(({ scenario }) => atEfficiency(scenario, efficiency)));
    return {
      cases: [...crossed(loads, Object.values<Setup>(SETUPS)), ...cross(bounds, Object.values(BARS))],
      tell: (results) => [
        ...(kind.length > 0 ? headline(kind, results) : []),
        ...loads.map((load) => tellOf(load, results)),
      ],
    };
  },
};

/** A chart, and a table of the same: mean program time over that of pass-through, at each efficiency. */
function headline(kind: readonly Load[], results: Results): Block[] {
  const ratios = Object.entries<Setup>(BARS).map(([name, setup]) => ({
    name,
    of: kind.map(({ scenario }) =>
      EFFICIENCIES.map((efficiency) => {
        const at = atEfficiency(scenario, efficiency);
        return results.ratio(
          { scenario: at, setup: BARS['pass-through'] },
          { scenario: at, setup },
          programTime('mean'),
        ).ratio;
      }),
    ),
  }));
  const rangeOf = (values: readonly (number | null)[]) => {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? null : ([Math.min(...known), Math.max(...known)] as const);
  };
  return [
    {
      type: 'chart',
      name: 'recorded-mean',
      bars: {
        title: 'Mean program time of recorded agents, simulated, as a share of pass-through',
        description:
          'A group for each recording, a bar for each policy, a line over each bar for the low and the high efficiency. Lower is better.',
        width: 760,
        y: { label: 'share of pass-through' },
        groups: kind.map(({ name }) => name),
        series: ratios.map(({ name, of }) => ({
          name,
          values: of.map(([middle]) => middle ?? null),
          ranges: of.map(rangeOf),
        })),
      },
    },
    {
      type: 'table',
      caption: 'Mean program time over that of pass-through, at the default, the low and the high efficiency',
      columns: ['policy', ...kind.flatMap(({ name }) => [name, 'low', 'high'])],
      rows: ratios.map(({ name, of }) => [name, ...of.flat().map(ratio)]),
    },
  ];
}

function tellOf(load: Load, results: Results): Block {
  const { scenario } = load;
  return results.table(
    `${load.name}, ${scenario.engines} engines: ${scenario.count} programs at ${scenario.ratePerSecond} a second`,
    'policy',
    COLUMNS,
    rowsOf(load, SETUPS),
    [results.against('mean, times pass-through', { scenario, setup: SETUPS['pass-through'] }, programTime('mean'))],
  );
}
