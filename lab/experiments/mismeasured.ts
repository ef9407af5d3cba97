import { percent } from '../../text/index.js';
import type { Setup } from './case.js';
import type { Experiment } from './experiment.js';
import type { Block } from '../report/plot.js';
import { caseOf, crossed, fleet, mixedHeld, recorded, rowsOf, type Load } from './loads.js';
import { HITS, LOST, REFUSED, perToken, programTime, type Measure, type Results } from './results.js';

const PASS_THROUGH: Setup = { policy: 'pass-through' };
const RIGHT: Setup = { policy: 'plas' };

const WRONG = {
  'service ± 50 %': { ...RIGHT, deception: 'service-noise' },
  'engine queueing counted as service': { ...RIGHT, deception: 'queueing-counted' },
  '5 % of programs split': { ...RIGHT, deception: 'split-programs' },
  '5 % of programs merged': { ...RIGHT, deception: 'merged-programs' },
  'load reports 1 s late': { ...RIGHT, deception: 'stale-reports' },
  'ends announced': { ...RIGHT, deception: 'announced-ends' },
} satisfies Record<string, Setup>;

export const mismeasured: Experiment = {
  name: 'mismeasured',
  title: 'When what the scheduler is told is wrong, without failures',
  about:
    'How much of the gain over `pass-through` survives when `plas` is told wrongly what a gateway may be told wrongly? Everywhere else in this report service is what the engine says, programs are told apart, reports are fresh and clients never announce that a program has ended; the last row is what announcing would bring.',
  recordings: ['mini-swe-agent'],
  plan(scale) {
    const loads = [mixedHeld(scale), fleet(scale), ...recorded('mini-swe-agent', scale)];
    return {
      cases: crossed(loads, [PASS_THROUGH, RIGHT, ...Object.values(WRONG)]),
      tell: (results) => loads.flatMap((load) => tellOf(load, results)),
    };
  },
};

function tellOf(load: Load, results: Results): Block[] {
  const isLong = load.name === 'mini-swe-agent';
  const [mean, p99] = isLong ? [programTime('mean'), programTime('p99')] : [perToken('mean'), perToken('p99')];
  const of = (setup: Setup, measure: Measure) => results.mean(caseOf(load, setup), measure);
  const [passed, right] = [of(PASS_THROUGH, mean), of(RIGHT, mean)];
  /** Share of the gain kept, in logarithms: doubling a time and then halving it cancel out. */
  const kept = (setup: Setup) => {
    const value = of(setup, mean);
    return !value || !passed || !right || passed <= right ? null : Math.log(passed / value) / Math.log(passed / right);
  };
  return [
    results.table(
      `${load.name}: told wrongly`,
      'what is wrong',
      [mean, LOST, REFUSED, p99, HITS],
      rowsOf(load, { 'pass-through': PASS_THROUGH, 'plas, told rightly': RIGHT, ...WRONG }),
      [
        results.against('mean, times told rightly', caseOf(load, RIGHT), mean),
        ['gain that is left', ({ setup }) => percent(kept(setup))],
      ],
    ),
  ];
}
