import { describe, expect, it } from 'vitest';
import { keyOf, RECORDING_NAMES, type Case } from '../../../lab/experiments/case.js';
import { fullScale, smokeScale } from '../../../lab/experiments/experiment.js';
import { EXPERIMENTS } from '../../../lab/experiments/experiments.js';
import { Results } from '../../../lab/experiments/results.js';
import { configOf } from '../../../lab/experiments/run-case.js';
import { Scheduler } from '../../../src/index.js';
import { makeBalancer } from '../../../loadbalancer/index.js';
import { configSchema } from '../../../sidecar/config/index.js';

const config = configSchema.parse({});
const scales = {
  full: fullScale({ recordings: RECORDING_NAMES, config }),
  smoke: smokeScale({ recordings: RECORDING_NAMES, config }),
  'without recordings': smokeScale({ recordings: [], config }),
};

function expecting(cases: readonly Case[]): Results {
  const results = new Results();
  for (const one of cases) results.expect(one, 1);
  return results;
}

describe.each(EXPERIMENTS)('the experiment $name', (experiment) => {
  it.each(Object.entries(scales))('plans all that it tells of, %s', (_, scale) => {
    const { cases, tell } = experiment.plan(scale);
    // A case that was not planned throws; one that was stopped is a dash.
    for (const block of tell(expecting(cases)))
      if (block.type === 'table')
        for (const row of block.rows) expect(row, block.caption).toHaveLength(block.columns.length);
  });

  it('changes settings that there are, to values that a scheduler takes', () => {
    for (const { setup } of experiment.plan(scales.full).cases) {
      const changed = configOf(config, setup.settings);
      expect(() => new Scheduler(changed, makeBalancer(changed.balancer))).not.toThrow();
    }
  });
});

it('experiments name their charts each as no other does', () => {
  const names = EXPERIMENTS.flatMap(({ plan }) => {
    const { cases, tell } = plan(scales.full);
    return tell(expecting(cases)).flatMap((block) => (block.type === 'chart' ? [block.name] : []));
  });
  expect(names).toContain('recorded-mean');
  expect(new Set(names).size).toBe(names.length);
});

describe('cases', () => {
  it('are the same whatever the order of their settings', () => {
    const scenario = {
      programs: { workload: 'chat' },
      count: 1,
      ratePerSecond: 1,
      engines: 1,
      machine: 'tiny-cpu',
    } as const;
    const keys = [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      { a: 2, b: 1 },
    ].map((settings) => keyOf({ scenario, setup: { policy: 'plas', settings } }));
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });
});
