import type { Settings, Setup } from './case.js';
import type { Experiment, Scale } from './experiment.js';
import type { Block } from '../report/plot.js';
import { caseOf, chat, crossed, fleet, mixed, mixedHeld, recorded, type Load } from './loads.js';
import { LOST, programTime, ratioText, perToken, type Measure, type Results } from './results.js';

interface Parameter {
  readonly key: string;
  /** Values around the default, which is left out. */
  readonly values: readonly (number | string)[];
}

const NEVER = 86_400_000;

const PARAMETERS: readonly Parameter[] = [
  { key: 'policy.firstQuantumMs', values: [30, 60, 125, 250, 500, 2000] },
  { key: 'starvation.beta', values: [2, 4, 8, 16, 32, 1e6] },
  { key: 'starvation.floorMs', values: [2000, 5000, 10_000, 20_000, 40_000, 80_000] },
  { key: 'starvation.waitMsMax', values: [60_000, 150_000, 300_000, 600_000, 1_200_000, NEVER] },
  { key: 'admission.window', values: [16, 32, 64, 96, 128, 256, 'adaptive'] },
  { key: 'admission.windowMax', values: [32, 64, 96, 128, 192, 256, 1024] },
  { key: 'admission.gate', values: [0, 0.6, 0.7, 0.8, 0.9, 1, 1.1] },
  { key: 'admission.halfLifeMs', values: [2000, 5000, 10_000, 20_000, 40_000, 80_000] },
  { key: 'admission.turnMs', values: [10_000, 20_000, 40_000, 80_000, 160_000, NEVER] },
  { key: 'admission.reserveMs', values: [30_000, 60_000, 120_000, 240_000, 600_000, NEVER] },
];

export const parameters: Experiment = {
  name: 'parameters',
  title: 'What the settings are worth, without failures',
  about:
    'How sensitive is `plas` with the gate to its settings? One setting at a time is moved away from the defaults, all others stay. Changes are ratios to the default over the same seeds, below 1 is better; of latency per token, and in `mini-swe-agent` of program time.',
  recordings: ['mini-swe-agent'],
  plan(scale) {
    const loads = [mixed(scale), mixedHeld(scale), chat(scale), fleet(scale), ...recorded('mini-swe-agent', scale)];
    const swept = PARAMETERS.map((parameter) => sweepOf(parameter, scale));
    const setups = swept.flatMap(({ points }) => points.map(({ setup }) => setup));
    return {
      cases: crossed(loads, [DEFAULT, ...setups]),
      tell: (results) => [...defaultsTable(loads, results), ...swept.flatMap((sweep) => tellOf(sweep, loads, results))],
    };
  },
};

const DEFAULT: Setup = { policy: 'plas' };

interface Sweep {
  readonly key: string;
  readonly points: readonly SweepPoint[];
}

interface SweepPoint {
  readonly label: string;
  readonly x: number;
  readonly setup: Setup;
  readonly isDefault: boolean;
}

/** Inserts the default among the other values, so that a table shows its position. */
function sweepOf({ key, values }: Parameter, scale: Scale): Sweep {
  const [section = '', name = ''] = key.split('.');
  const own = (scale.config as unknown as Record<string, Record<string, number | string>>)[section]?.[name] ?? NaN;
  const others = scale.points(values.filter((value) => value !== own));
  const point = (value: number | string): SweepPoint => {
    const isDefault = value === own;
    const setup = isDefault ? DEFAULT : { ...DEFAULT, settings: { [key]: value } satisfies Settings };
    const text = value === NEVER ? 'a day' : typeof value === 'number' ? value.toLocaleString('en-US') : value;
    return { label: isDefault ? `${text} (default)` : text, x: Number(value), setup, isDefault };
  };
  // Values that are words come last.
  const place = ({ x }: SweepPoint) => (Number.isNaN(x) ? Infinity : x);
  return { key, points: [own, ...others].map(point).sort((a, b) => place(a) - place(b) || 0) };
}

const measuresOf = ({ name }: Load): readonly [Measure, Measure] =>
  name === 'mini-swe-agent' ? [programTime('mean'), programTime('p99')] : [perToken('mean'), perToken('p99')];

function defaultsTable(loads: readonly Load[], results: Results): Block[] {
  const rows = loads.flatMap((load) => measuresOf(load).map((measure) => [`${load.name}, ${measure.label}`, results.shown(caseOf(load, DEFAULT), measure)])); // prettier-ignore
  return [{ type: 'table', caption: 'The defaults', columns: ['load', 'figure'], rows }];
}

function tellOf({ key, points }: Sweep, loads: readonly Load[], results: Results): Block[] {
  const ratioOf = (load: Load, { setup }: SweepPoint, measure: Measure) =>
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
      rows: points.map((point) => [
        point.label,
        ...columns.map(({ load, measure }) => ratioText(ratioOf(load, point, measure))),
        ...loads.map((load) => results.shown(caseOf(load, point.setup), LOST)),
      ]),
    },
  ];
}
