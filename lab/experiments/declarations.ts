import type { Setup } from './case.js';
import type { Experiment, Scale } from './experiment.js';
import type { Block } from '../report/plot.js';
import {
  caseOf,
  chat,
  coding,
  crossed,
  fleet,
  inProduction,
  mcts,
  mixed,
  react,
  recorded,
  rowsOf,
  tenants,
  type Load,
} from './loads.js';
import { LOST, perToken, programTime, type Results } from './results.js';

const DECLARED: Setup = { policy: 'plas', settings: { 'policy.foresight': 'declared' } };

/** The first is what the others must not be worse than. */
const WORK = {
  'no foresight': { policy: 'plas' },
  declared: DECLARED,
  'declared, wrong by up to 4': { ...DECLARED, declarations: { spread: 4 } },
  'declared, all graphs wrong': { ...DECLARED, declarations: { mistakenShare: 1 } },
  'declared, a quarter of the graphs wrong': { ...DECLARED, declarations: { mistakenShare: 0.25 } },
} satisfies Record<string, Setup>;

const COLUMNS = [programTime('mean'), programTime('p99'), perToken('mean'), LOST];

export const declarations: Experiment = {
  name: 'declarations',
  title: 'When clients declare wrongly what their programs will do',
  about:
    'Is foresight ever worse than none? `plas` ranks programs by the rest that their clients declare: the true one; one that is wrong by a factor of the program’s own, from 1/4 to 4; or the rest of the program that came before, as by a wrong graph, of all programs or of a quarter of them. The goal is at most 1 % more mean program time than without foresight.',
  recordings: ['mini-swe-agent', 'agentcgroup', 'weka'],
  plan(scale) {
    const loads = loadsOf(scale);
    const shared = scale.points([0.4, 0.8]).map((rate) => tenants(scale, rate));
    return {
      cases: crossed([...loads, ...shared], Object.values(WORK)),
      tell: (results) => [...loads, ...shared].map((load) => tellOf(load, results)),
    };
  },
};

function loadsOf(scale: Scale): Load[] {
  const agents = recorded('mini-swe-agent', scale);
  const several = [mixed(scale), fleet(scale), ...agents];
  return [
    ...several,
    ...several.map(inProduction),
    ...recorded('agentcgroup', scale),
    ...recorded('weka', scale),
    chat(scale),
    react(scale),
    mcts(scale),
    coding(scale),
  ];
}

function tellOf(load: Load, results: Results): Block {
  const first = caseOf(load, WORK['no foresight']);
  return results.table(`${load.name}: declared work`, 'foresight', COLUMNS, rowsOf(load, WORK), [
    results.against('mean, times the first', first, programTime('mean')),
  ]);
}
