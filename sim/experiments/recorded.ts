import { percent, ratio } from '../report/figures.js';
import { cross, RECORDING_NAMES, type Setup } from './case.js';
import type { Block, Experiment } from './experiment.js';
import { recorded as loadsOf, type Load } from './loads.js';
import { HITS, perToken, programTime, ratioText, REFUSED, WORST_WAIT, type Results } from './results.js';

const ungated = { 'admission.gate': 0 };

const SETUPS = {
  'fcfs (pass-through)': { policy: 'fcfs' },
  'fcfs-window, no gate': { policy: 'fcfs-window', settings: ungated },
  'fcfs-window + gate': { policy: 'fcfs-window' },
  'plas, no gate': { policy: 'plas', settings: ungated },
  'plas + gate (default)': { policy: 'plas' },
  'srpt + gate': { policy: 'srpt' },
  'mru-pause': { policy: 'mru-pause' },
} satisfies Record<string, Setup>;

const COLUMNS = [
  programTime('mean'),
  programTime('p95'),
  programTime('p99'),
  perToken('mean'),
  HITS,
  WORST_WAIT,
  REFUSED,
];

export const recorded: Experiment = {
  name: 'recorded',
  title: 'Recorded agents whose contexts outgrow the KV cache',
  about:
    'What does each half of the scheduler bring to real coding agents: the order of calls, and the gate that keeps the working set within the KV cache? Programs of three recordings arrive at random (Poisson), with their sizes and gaps; gaps above a minute are played as a minute. `mini-swe-agent` and `agentcgroup` are served by `llama-3.1-8b-a100`; `weka`, Claude Code sessions whose prompts reach 756,000 tokens, by the same with a context of 262,144 tokens, and what is longer is refused.',
  recordings: RECORDING_NAMES,
  plan(scale) {
    const loads = scale
      .points([2, 4])
      .flatMap((engines) => RECORDING_NAMES.flatMap((name) => loadsOf(name, scale, engines)));
    return {
      cases: cross(
        loads.map(({ scenario }) => scenario),
        Object.values(SETUPS),
      ),
      tell: (results) => [
        ...(loads.length > 0 ? [chart(loads, results)] : []),
        ...loads.flatMap((load) => tellOf(load, results)),
      ],
    };
  },
};

const titleOf = ({ name, scenario }: Load): string => `${name}, ${scenario.engines} engines`;

function chart(loads: readonly Load[], results: Results): Block {
  const names = Object.keys(SETUPS) as (keyof typeof SETUPS)[];
  return {
    type: 'chart',
    name: 'recorded-mean',
    bars: {
      title: 'Mean program time of recorded agents, as a share of fcfs',
      description: 'A group for each recording and number of engines, a bar for each policy. Lower is better.',
      width: 900,
      y: { label: 'share of fcfs' },
      groups: loads.map(({ name, scenario }) => `${name}, ${scenario.engines}`),
      series: names.slice(1).map((name) => ({
        name,
        values: loads.map(
          ({ scenario }) =>
            results.ratio(
              { scenario, setup: SETUPS['fcfs (pass-through)'] },
              { scenario, setup: SETUPS[name] },
              programTime('mean'),
            ).ratio,
        ),
      })),
    },
  };
}

function tellOf(load: Load, results: Results): Block[] {
  const { scenario } = load;
  const first = { scenario, setup: SETUPS['fcfs (pass-through)'] };
  return [
    {
      type: 'table',
      caption: `${titleOf(load)}: ${scenario.count} programs at ${scenario.ratePerSecond} a second`,
      columns: ['policy', ...COLUMNS.map(({ label }) => label), 'mean, times fcfs'],
      rows: Object.entries(SETUPS).map(([name, setup]) => [
        name,
        ...COLUMNS.map((measure) => results.shown({ scenario, setup }, measure)),
        ratioText(results.ratio(first, { scenario, setup }, programTime('mean'))),
      ]),
    },
    { type: 'findings', sentences: sentences(load, results) },
  ];
}

/**
 * The gain of both halves together is a product of what one brings alone and what the other brings beside it; the gate's share
 * is that of its logarithm, once with the gate added first and once with it added last.
 */
function sentences(load: Load, results: Results): string[] {
  const { scenario } = load;
  const mean = (name: keyof typeof SETUPS) => results.mean({ scenario, setup: SETUPS[name] }, programTime('mean'));
  const p99 = (name: keyof typeof SETUPS) => results.mean({ scenario, setup: SETUPS[name] }, programTime('p99'));
  const [fcfs, neither, gate, order, both, bound] = [
    mean('fcfs (pass-through)'),
    mean('fcfs-window, no gate'),
    mean('fcfs-window + gate'),
    mean('plas, no gate'),
    mean('plas + gate (default)'),
    mean('srpt + gate'),
  ];
  const [fcfsP99, bothP99] = [p99('fcfs (pass-through)'), p99('plas + gate (default)')];
  if (!fcfs || !neither || !gate || !order || !both || !bound || !fcfsP99 || !bothP99) return [];
  const gain = Math.log(neither / both);
  const [first, last] = [Math.log(neither / gate) / gain, Math.log(order / both) / gain].sort((a, b) => a - b) as [
    number,
    number,
  ];
  const title = titleOf(load);
  return [
    `${title}: plas with the gate takes ${ratio(fcfs / both)} times less than fcfs in the mean and ${ratio(fcfsP99 / bothP99)} times less in the p99, and ${ratio(both / bound)} times what srpt takes with the gate.`,
    `${title}: against a window alone, the gate alone is worth ${ratio(neither / gate)} times, the order alone ${ratio(neither / order)} times, both ${ratio(neither / both)} times: ${first === last ? percent(first) : `${percent(first)} to ${percent(last)}`} of the gain is the gate’s.`,
  ];
}
