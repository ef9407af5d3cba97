import type { SchedulerConfig } from '../../src/index.js';

type Partly<T> = { readonly [K in keyof T]?: Partial<T[K]> };

/** Settings of the tests: round numbers, and no timers that fire unless a test sets them. */
const QUIET: SchedulerConfig = {
  policy: {
    name: 'plas',
    firstQuantumMs: 1_000,
    charge: 'chain',
    order: 'attained',
    countPrompt: false,
    msPerPromptToken: 0.1,
    msPerOutputToken: 10,
    foresight: 'none',
    tenants: 'none',
    tenantWeights: {},
  },
  starvation: { beta: 1_000, floorMs: 1_000, waitMsMax: 10_000_000 },
  admission: {
    window: 'auto',
    windowInitial: 4,
    windowMin: 1,
    windowMax: 16,
    gate: 0.9,
    hostGate: 0.9,
    halfLifeMs: 16_000,
    batching: 'none',
    backgroundShare: 0.1,
    retention: 'learnt',
    forecast: 'learnt',
    sharedPrefixes: 'family',
    outputReserveTokens: 100,
    reserveMs: 10_000_000,
    turnMs: 1_000,
  },
  balancer: { spillMs: 10_000_000 },
  limits: {
    programsMax: 1_000,
    queuedMax: 1_000,
    queuedPerTenantMax: 1_000,
    attemptsMax: 3,
    enginesFailedMax: 3,
    clientRetries: 2,
  },
  timeouts: { queueMs: 100_000_000, noEngineMs: 10_000_000, leaseMs: 100_000_000, ghostMs: 0 },
};

export function coreConfig(changes: Partly<SchedulerConfig> = {}): SchedulerConfig {
  return {
    policy: { ...QUIET.policy, ...changes.policy },
    starvation: { ...QUIET.starvation, ...changes.starvation },
    admission: { ...QUIET.admission, ...changes.admission },
    balancer: { ...QUIET.balancer, ...changes.balancer },
    limits: { ...QUIET.limits, ...changes.limits },
    timeouts: { ...QUIET.timeouts, ...changes.timeouts },
  };
}

export type CoreChanges = Partly<SchedulerConfig>;
