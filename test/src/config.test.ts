import { describe, expect, it } from 'vitest';
import { Scheduler, defaults, type SchedulerConfig } from '../../src/index.js';
import { makeBalancer, defaults as balancing } from '../../loadbalancer/index.js';

const made = (section: keyof SchedulerConfig, changes: object) => () =>
  new Scheduler({ ...defaults, [section]: { ...defaults[section], ...changes } }, makeBalancer(balancing));

describe('settings of the scheduler', () => {
  it.each<[keyof SchedulerConfig, object]>([
    ['policy', { firstQuantumMs: Number.MIN_VALUE }],
    ['policy', { tenantWeights: { a: 1e-6 } }],
    ['admission', { windowMin: 3, windowInitial: 3, windowMax: 3 }],
    ['admission', { window: 1e9, halfLifeMs: 1, gate: 0 }],
    ['limits', { queuedMax: 1, clientRetries: 0 }],
    ['timeouts', { ghostMs: 0, noEngineMs: 0 }],
  ])('take their bounds: %s %j', (section, changes) => {
    expect(made(section, changes)).not.toThrow();
  });

  it.each<[keyof SchedulerConfig, object, string]>([
    ['policy', { firstQuantumMs: 0 }, 'policy.firstQuantumMs'],
    ['policy', { order: 'best' }, 'policy.order'],
    ['policy', { countPrompt: 1 }, 'policy.countPrompt'],
    ['policy', { tenantWeights: { a: 9e-7 } }, 'policy.tenantWeights'],
    ['policy', { tenantWeights: null }, 'policy.tenantWeights'],
    ['starvation', { beta: NaN }, 'starvation.beta'],
    ['admission', { window: 'wide' }, 'admission.window'],
    ['admission', { window: 0 }, 'admission.window'],
    ['admission', { windowMin: 17 }, 'admission.windowInitial'],
    ['admission', { windowMax: 15 }, 'admission.windowMax'],
    ['admission', { gate: Infinity }, 'admission.gate'],
    ['limits', { queuedMax: 1.5 }, 'limits.queuedMax'],
    ['limits', { queuedMax: 1e9 + 1 }, 'limits.queuedMax'],
    ['timeouts', { queueMs: undefined }, 'timeouts.queueMs'],
  ])('are refused beyond them, by name: %s %j', (section, changes, name) => {
    expect(made(section, changes)).toThrow(RangeError);
    expect(made(section, changes)).toThrow(new RegExp(`^${name} (?!.*object Object)`));
  });
});
