import { ratio } from '../../text/index.js';
import type { Case, Machine, Scenario, Setup } from './case.js';
import type { Experiment, Scale } from './experiment.js';
import type { Block } from '../report/block.js';
import { fleet, mixed, recorded } from './loads.js';
import { HITS, LOST, REFUSED, perToken, programTime, type Measure, type Results } from './results.js';

/** One line of the independent model's figures: a value, or the least and the greatest over its seeds. */
interface Line {
  readonly load: 'mixed' | 'mini-swe-agent' | 'fleet';
  readonly name: string;
  readonly setup: Setup;
  readonly figures: readonly (readonly [Measure, string])[];
}

const ungated = { 'admission.gate': 0 };
const window = { 'admission.window': 64 };
const perTokenOf = (mean: string, p99?: string) => [
  [perToken('mean'), mean] as const,
  ...(p99 === undefined ? [] : [[perToken('p99'), p99] as const]),
];
const NO_PUSH = { 'admission.turnMs': 86_400_000, 'admission.reserveMs': 86_400_000 };

const lineOf = (load: Line['load'], name: string, setup: Setup, figures: Line['figures']): Line => ({
  load,
  name,
  setup,
  figures,
});
const programsOf = (mean: string) => [programTime('mean'), mean] as const;

// prettier-ignore
const LINES: readonly Line[] = [
  lineOf('mixed', 'fcfs-window, window 64', { policy: 'fcfs-window', settings: window }, perTokenOf('95', '507')),
  lineOf('mixed', 'pass-through, no window', { policy: 'pass-through' }, perTokenOf('-', '-')),
  lineOf('mixed', 'plas, defaults', { policy: 'plas' }, perTokenOf('-', '-')),
  lineOf('mixed', 'plas, window 64', { policy: 'plas', settings: window }, perTokenOf('24.5', '77')),
  lineOf('mixed', 'srpt, window 64', { policy: 'srpt', settings: window }, perTokenOf('20.4', '40')),
  lineOf('mini-swe-agent', 'pass-through', { policy: 'pass-through' }, [programsOf('3,620–4,150'), [programTime('p99'), '7,300–10,200'], [HITS, '24–34 %']]),
  lineOf('mini-swe-agent', 'plas, no gate', { policy: 'plas', settings: ungated }, [programsOf('3,690–4,120')]),
  lineOf('mini-swe-agent', 'plas + gate', { policy: 'plas' }, [programsOf('1,030–1,160'), [programTime('p99'), '3,400–3,500'], [HITS, '95 %']]),
  lineOf('mini-swe-agent', 'srpt + gate', { policy: 'srpt' }, [programsOf('815–876')]),
  lineOf('fleet', 'pass-through', { policy: 'pass-through' }, perTokenOf('80')),
  lineOf('fleet', 'fcfs-window + gate', { policy: 'fcfs-window' }, perTokenOf('48')),
  lineOf('fleet', 'plas, no gate', { policy: 'plas', settings: ungated }, perTokenOf('61')),
  lineOf('fleet', 'plas + gate', { policy: 'plas' }, perTokenOf('39')),
  lineOf('fleet', 'srpt + gate', { policy: 'srpt' }, perTokenOf('34')),
];

/** Expected ratio between two lines of a load. */
interface Goal {
  readonly load: Line['load'];
  readonly of: string;
  readonly over: string;
  readonly measure: Measure;
  readonly bound: { readonly atLeast: number } | { readonly atMost: number };
}

// prettier-ignore
const GOALS: readonly Goal[] = [
  { load: 'mixed', of: 'fcfs-window, window 64', over: 'plas, window 64', measure: perToken('mean'), bound: { atLeast: 3.5 } },
  { load: 'mixed', of: 'plas, window 64', over: 'srpt, window 64', measure: perToken('mean'), bound: { atMost: 1.25 } },
  { load: 'mini-swe-agent', of: 'pass-through', over: 'plas + gate', measure: programTime('mean'), bound: { atLeast: 3.2 } },
  { load: 'mini-swe-agent', of: 'plas + gate', over: 'srpt + gate', measure: programTime('mean'), bound: { atMost: 1.3 } },
  { load: 'mini-swe-agent', of: 'plas + gate', over: 'pass-through', measure: programTime('p99'), bound: { atMost: 0.5 } },
];

/** Our setup, and setups without a feature that may explain a difference. */
interface Variant {
  readonly name: string;
  readonly machine: Machine;
  readonly settings: NonNullable<Setup['settings']>;
}

const VARIANTS: readonly Variant[] = [
  { name: 'ours', machine: 'llama-3.1-8b-a100', settings: {} },
  { name: 'ours, full bandwidth', machine: 'ideal-bandwidth', settings: {} },
  { name: 'ours, no turns', machine: 'llama-3.1-8b-a100', settings: NO_PUSH },
  { name: 'both', machine: 'ideal-bandwidth', settings: NO_PUSH },
];

export const reference: Experiment = {
  name: 'reference',
  title: 'The reference model and ours, without failures',
  about:
    'Do two independently written simulators agree? The reference is an A100-like engine with an 8B model: `mixed` at 0.8 programs a second, 600 programs, one engine, a window of 64; recorded mini-swe-agent at 0.25 a second, 250 programs, two engines; `fleet` at 0.9 a second, two engines. Our preset lets memory reads attain 80 % of the data sheet’s bandwidth: `full bandwidth` takes all of it. `no turns` sets `admission.turnMs` and `admission.reserveMs` to a day, so that no waiting call pushes an idle context out of its cache. On `mixed` the goals are of a window of 64 on both sides, as the reference has it: with the default window the engine takes all that waits, and order matters little (`pass-through, no window` and `plas, defaults`).',
  recordings: ['mini-swe-agent'],
  plan(scale) {
    const scenarios = scenariosOf(scale);
    const lines = LINES.filter(({ load }) => scenarios[load] !== undefined);
    const caseOf = (line: Line, variant: Variant): Case => ({
      scenario: { ...(scenarios[line.load] as Scenario), machine: variant.machine },
      setup: withSettings(line.setup, variant.settings),
    });
    return {
      cases: VARIANTS.flatMap((variant) => lines.map((line) => caseOf(line, variant))),
      tell: (results) => [
        {
          type: 'table',
          caption: 'The reference model and ours',
          columns: ['load, policy', 'figure', 'reference', ...VARIANTS.map(({ name }) => name)],
          rows: lines.flatMap((line) =>
            [...line.figures, [LOST, '-'] as const, [REFUSED, '-'] as const].map(([measure, told]) => [
              `${line.load}, ${line.name}`,
              measure.label,
              told,
              ...VARIANTS.map((variant) => results.shown(caseOf(line, variant), measure)),
            ]),
          ),
        },
        goalTable((name, load, variant) => {
          const line = lines.find((each) => each.load === load && each.name === name);
          return line && caseOf(line, variant);
        }, results),
        ...(scenarios['mini-swe-agent'] ? [explanation(lines, caseOf, results)] : []),
      ],
    };
  },
};

const scenariosOf = (scale: Scale): Partial<Record<Line['load'], Scenario>> =>
  Object.fromEntries(
    [mixed(scale), fleet(scale), ...recorded('mini-swe-agent', scale)].map(({ name, scenario }) => [name, scenario]),
  );

function withSettings(setup: Setup, more: NonNullable<Setup['settings']>): Setup {
  const settings = { ...setup.settings, ...more };
  return Object.keys(settings).length === 0 ? setup : { ...setup, settings };
}

function goalTable(
  caseOf: (name: string, load: Line['load'], variant: Variant) => Case | undefined,
  results: Results,
): Block {
  const cell = ({ load, of, over, measure, bound }: Goal, variant: Variant): string => {
    const [first, other] = [caseOf(over, load, variant), caseOf(of, load, variant)];
    const value = first && other ? results.ratio(first, other, measure).ratio : null;
    if (value === null) return '-';
    const isMet = 'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost;
    return `${ratio(value)}, ${isMet ? 'met' : 'missed'}`;
  };
  return {
    type: 'table',
    caption: 'Goals',
    columns: ['figure', 'of', 'over', 'goal', ...VARIANTS.map(({ name }) => name)],
    rows: GOALS.map((goal) => [
      `${goal.load}, ${goal.measure.label}`,
      goal.of,
      goal.over,
      'atLeast' in goal.bound ? `at least ${goal.bound.atLeast}` : `at most ${goal.bound.atMost}`,
      ...VARIANTS.map((variant) => cell(goal, variant)),
    ]),
  };
}

/** Effect of each change on recorded agents under the default policy. */
function explanation(lines: readonly Line[], caseOf: (line: Line, variant: Variant) => Case, results: Results): Block {
  const line = lines.find(({ load, name }) => load === 'mini-swe-agent' && name === 'plas + gate');
  const [ours, ...others] = VARIANTS;
  const told = (of: Variant) => line && ours && results.ratio(caseOf(line, ours), caseOf(line, of), programTime('mean')).ratio; // prettier-ignore
  const parts = others.flatMap((variant) => {
    const value = told(variant);
    return value ? [`${variant.name === 'both' ? 'both together' : variant.name.replace('ours, ', '')} ${ratio(value)} times`] : []; // prettier-ignore
  });
  const sentence = `mini-swe-agent, plas + gate, mean program time against ours as it is: ${parts.join(', ')}.`;
  return { type: 'findings', sentences: parts.length === 0 ? [] : [sentence] };
}
