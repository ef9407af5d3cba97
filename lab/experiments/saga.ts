import { integer } from '../../text/index.js';
import type { Setup, Settings } from './case.js';
import type { Experiment, Scale } from './experiment.js';
import type { Table } from '../report/block.js';
import { caseOf, coding, crossed, recorded, rowsOf, type Load } from './loads.js';
import { HITS, LOST, programTime, type Measure, type Results } from './results.js';

const plas = (settings: Settings, more: Omit<Setup, 'policy' | 'settings'> = {}): Setup => ({
  policy: 'plas',
  settings,
  ...more,
});

const DECLARED = { 'policy.foresight': 'declared' };

const WITH_ALL = plas(DECLARED);
const DEFAULT: Setup = { policy: 'plas' };

/** SAGA's table 3. */
const WHOLE: Readonly<Record<string, Setup>> = {
  'pass-through, least-loaded': { policy: 'pass-through', balancer: 'least-loaded' },
  'pass-through, prefix-aware (prefix caching with affinity)': { policy: 'pass-through', balancer: 'prefix-aware' },
  'pass-through, prefix-aware, eviction by steps (KVFlow)': {
    policy: 'pass-through',
    balancer: 'prefix-aware',
    eviction: 'steps',
  },
  'pass-through, program-affinity': { policy: 'pass-through' },
  'plas (default)': DEFAULT,
  'plas (default), eviction by steps': { ...DEFAULT, eviction: 'steps' },
  'all of it, declared': WITH_ALL,
};

/** SAGA's table 4. */
const PARTS: Readonly<Record<string, Setup>> = {
  'all of it, declared': WITH_ALL,
  'without affinity': plas(DECLARED, { balancer: 'least-loaded' }),
  'without retention (lru)': plas({ ...DECLARED, 'admission.retention': 'lru' }),
  'without foresight (lru)': plas({ 'admission.retention': 'lru' }),
  'without the gate': plas({ ...DECLARED, 'admission.gate': 0 }),
  'without the order of programs': { policy: 'fcfs-window', settings: DECLARED },
};

/** SAGA's table 5. */
const KNOWN: Readonly<Record<string, Setup>> = {
  'learnt (default)': DEFAULT,
  declared: plas(DECLARED),
  'all of it known (srpt)': { policy: 'srpt' },
};

/** SAGA's table 2. */
const BELADY = plas({}, { belady: true });
const HOLDING: Readonly<Record<string, Setup>> = {
  'learnt (default)': DEFAULT,
  'half-life': plas({ 'admission.retention': 'half-life' }),
  lru: plas({ 'admission.retention': 'lru' }),
};
const RETENTION = { ...HOLDING, belady: BELADY };

/** SAGA's table 10. */
const SPREADS = [0.5, 1, 2, 4];

const MISSED: Measure = {
  label: 'missed, thousand tokens',
  of: (run) => (run.prefix_hit_rate === null ? null : ((1 - run.prefix_hit_rate) * run.prompt_tokens) / 1000),
  show: integer,
};

const spreadOf = (scale: Scale, toolCv: number): Load => {
  const { scenario } = coding(scale);
  return { name: `CV ${toolCv}`, scenario: { ...scenario, toolCv } };
};

export const saga: Experiment = {
  name: 'saga',
  title: 'The parts of SAGA, one by one, without failures',
  about:
    'What are foresight, retention, and affinity worth? The tables are those of SAGA, as far as a gateway has the switches. Coding agents arrive at random, with contexts that outgrow the caches; clients declare the true rest of their programs where that is used. Left out are WA-LRU, which an engine would have to know, and what gained nothing: prefetching, retention by the time of tools, and tenants by urgency. Tenants have a chapter of their own. Engines evict what was idle for longest, or by steps as in KVFlow: the context that its program’s true graph needs the most steps later. No gateway can have that. Missed are prompt tokens that no cache had. `belady` knows which threads call again, and holds their contexts alone.',
  recordings: ['mini-swe-agent'],
  plan(scale) {
    const loads = [coding(scale), ...recorded('mini-swe-agent', scale)];
    const spread = scale.points(SPREADS).map((cv) => spreadOf(scale, cv));
    const setups = [WHOLE, PARTS, KNOWN, RETENTION].flatMap((group) => Object.values(group));
    return {
      cases: [...crossed(loads, setups), ...crossed(spread, Object.values(HOLDING))],
      tell: (results) => [
        ...loads.flatMap((load) => [
          compared(load, results, 'completion time (SAGA’s table 3)', WHOLE, WITH_ALL),
          compared(load, results, 'each part left out (table 4)', PARTS, WITH_ALL),
          compared(load, results, 'declared and learnt (table 5)', KNOWN, DEFAULT),
          missed(load, results),
        ]),
        spreadTable(spread, results),
      ],
    };
  },
};

/** Times of the setups, and their ratio to those of one. */
function compared(
  load: Load,
  results: Results,
  caption: string,
  setups: Readonly<Record<string, Setup>>,
  first: Setup,
): Table {
  const measures = [programTime('mean'), programTime('p95'), programTime('p99'), HITS, LOST];
  const [name = ''] = Object.entries(setups).find(([, setup]) => setup === first) ?? [];
  const ratio = results.against(`mean, times ${name}`, caseOf(load, first), programTime('mean'));
  return results.table(`${load.name}: ${caption}`, 'setup', measures, rowsOf(load, setups), [ratio]);
}

function missed(load: Load, results: Results): Table {
  const caption = `${load.name}: retention against Belady’s (table 2)`;
  const ratio = results.against('missed, times belady', caseOf(load, BELADY), MISSED);
  return results.table(caption, 'retention', [MISSED, HITS, programTime('mean'), LOST], rowsOf(load, RETENTION), [
    ratio,
  ]);
}

function spreadTable(loads: readonly Load[], results: Results): Table {
  return {
    type: 'table',
    caption: 'Tools of 1.2 s in the mean, by their coefficient of variation (table 10): mean program s, hits',
    columns: ['retention', ...loads.map(({ name }) => name)],
    rows: Object.entries(HOLDING).map(([label, setup]) => [
      label,
      ...loads.map((load) =>
        [programTime('mean'), HITS].map((measure) => results.shown(caseOf(load, setup), measure)).join(', '),
      ),
    ]),
  };
}
