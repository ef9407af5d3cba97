import type { SchedulerConfig } from './config.js';

/**
 * The shipped settings, and the gateway's own defaults; docs/CONFIG.md says where each comes from. To change one:
 * `{ ...defaults, policy: { ...defaults.policy, name: 'fcfs-window' } }`.
 */
export const defaults = {
  policy: {
    name: 'plas',
    firstQuantumMs: 125,
    charge: 'work',
    order: 'learnt',
    countPrompt: true,
    msPerPromptToken: 0.1,
    msPerOutputToken: 20,
    foresight: 'none',
    tenants: 'none',
    tenantWeights: {},
  },
  starvation: { beta: 8, floorMs: 20_000, waitMsMax: 300_000 },
  admission: {
    window: 'auto',
    windowInitial: 16,
    windowMin: 2,
    windowMax: 1024,
    gate: 0.9,
    hostGate: 0.9,
    batching: 'knee',
    backgroundShare: 0.1,
    halfLifeMs: 20_000,
    retention: 'learnt',
    forecast: 'learnt',
    sharedPrefixes: 'family',
    outputReserveTokens: 256,
    reserveMs: 120_000,
    turnMs: 300_000,
  },
  balancer: { spillMs: 10_000 },
  limits: {
    programsMax: 100_000,
    queuedMax: 10_000,
    queuedPerTenantMax: 5000,
    attemptsMax: 3,
    enginesFailedMax: 2,
    clientRetries: 2,
  },
  timeouts: { queueMs: 1_800_000, noEngineMs: 30_000, leaseMs: 1_800_000, ghostMs: 120_000 },
} as const satisfies SchedulerConfig;
