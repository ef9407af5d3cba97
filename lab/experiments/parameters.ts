import type { Setup } from './case.js';
import type { Experiment, Scale } from './experiment.js';
import { ratioText } from '../report/grid.js';
import type { Block } from '../report/plot.js';
import { caseOf, chat, crossed, fleet, mixed, mixedHeld, recorded, type Load } from './loads.js';
import { LOST, programTime, perToken, type Measure, type Results } from './results.js';

const NEVER = 86_400_000;

/** Values around the default of each setting, which is left out. */
const PARAMETERS: Readonly<Record<string, readonly (number | string)[]>> = {
  'policy.firstQuantumMs': [30, 60, 125, 250, 500, 2000],
  'starvation.beta': [2, 4, 8, 16, 32, 1e6],
  'starvation.floorMs': [2000, 5000, 10_000, 20_000, 40_000, 80_000],
  'starvation.waitMsMax': [60_000, 150_000, 300_000, 600_000, 1_200_000, NEVER],
  'admission.window': [16, 32, 64, 96, 128, 256, 'adaptive'],
  'admission.windowMax': [32, 64, 96, 128, 192, 256, 1024],
  'admission.gate': [0, 0.6, 0.7, 0.8, 0.9, 1, 1.1],
  'admission.halfLifeMs': [2000, 5000, 10_000, 20_000, 40_000, 80_000],
  'admission.turnMs': [10_000, 20_000, 40_000, 80_000, 160_000, NEVER],
  'admission.reserveMs': [30_000, 60_000, 120_000, 240_000, 600_000, NEVER],
};

export const parameters: Experiment = {
  name: 'parameters',
  title: 'What the settings are worth, without failures',
  about:
    'How sensitive is `plas` with the gate to its settings? One setting at a time is moved away from the defaults, all others stay. Changes are ratios to the default over the same seeds, below 1 is better; of latency per token, and in `mini-swe-agent` of program time.',
  recordings: ['mini-swe-agent'],
  plan(scale) {
    const loads = [mixed(scale), mixedHeld(scale), chat(scale), fleet(scale), ...recorded('mini-swe-agent', scale)];
    const swept = Object.entries(PARAMETERS).map(([key, values]) => ({ key, points: pointsOf(key, values, scale) }));
    const setups = swept.flatMap(({ points }) => points.map(([, setup]) => setup));
    return {
      cases: crossed(loads, [DEFAULT, ...setups]),
      tell: (results) => [...defaultsTable(loads, results), ...swept.flatMap((sweep) => tellOf(sweep, loads, results))],
    };
  },
};

const DEFAULT: Setup = { policy: 'plas' };

type Point = readonly [label: string, setup: Setup];

/** By value, the default at its place; values that are words come last. */
function pointsOf(key: string, values: readonly (number | string)[], scale: Scale): Point[] {
  const [section = '', name = ''] = key.split('.');
  const own = (scale.config as unknown as Record<string, Record<string, number | string>>)[section]?.[name] ?? NaN;
  const others = scale.points(values.filter((value) => value !== own));
  const place = (value: number | string) => (typeof value === 'number' ? value : Infinity);
  return [own, ...others]
    .sort((a, b) => place(a) - place(b) || 0)
    .map((value) => {
      const text = value === NEVER ? 'a day' : value.toLocaleString('en-US');
      return value === own ? [`${text} (default)`, DEFAULT] : [text, { ...DEFAULT, settings: { [key]: value } }];
    });
}

const measuresOf = ({ name }: Load): readonly [Measure, Measure] =>
  name === 'mini-swe-agent' ? [programTime('mean'), programTime('p99')] : [perToken('mean'), perToken('p99')];

function defaultsTable(loads: readonly Load[], results: Results): Block[] {
  const rows = loads.flatMap((load) =>
    measuresOf(load).map((measure) => [
      `${load.name}, ${measure.label}`,
      results.shown(caseOf(load, DEFAULT), measure),
    ]),
  );
  return [{ type: 'table', caption: 'The defaults', columns: ['load', 'figure'], rows }];
}

function tellOf({ key, points }: { key: string; points: Point[] }, loads: readonly Load[], results: Results): Block[] {
  const ratioOf = (load: Load, setup: Setup, measure: Measure) =>
    results.ratio(caseOf(load, DEFAULT), caseOf(load, setup), measure);
  const columns = loads.flatMap((load) => measuresOf(load).map((measure) => ({ load, measure })));
  return [
    {
      type: 'table',
      caption: key,
      columns: [
        'value',
        ...columns.map(({ load, measure }) => `${load.name} ${measure.label.endsWith('mean') ? 'mean' : 'p99'}`),
        ...loads.map((load) => `${load.name} ${LOST.label}`),
      ],
      rows: points.map(([label, setup]) => [
        label,
        ...columns.map(({ load, measure }) => ratioText(ratioOf(load, setup, measure))),
        ...loads.map((load) => results.shown(caseOf(load, setup), LOST)),
      ]),
    },
  ];
}
