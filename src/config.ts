import type { RetentionPolicy } from './policies/retention.js';

/** The policies that settings can name; `policies/by-name.ts` has them. */
export const POLICY_NAMES = ['plas', 'pass-through', 'fcfs-window'] as const;
export const CHARGE_NAMES = ['work', 'chain'] as const;
export const ORDER_NAMES = ['learnt', 'attained'] as const;
export const FORECAST_NAMES = ['learnt', 'length', 'none'] as const;
export const ADMISSION_NAMES = ['knee', 'none'] as const;
export const RETENTION_NAMES = ['learnt', 'half-life', 'lru'] as const;
export const FORESIGHT_NAMES = ['none', 'declared'] as const;
export const TENANTS_NAMES = ['none', 'weighted'] as const;
export type PolicyName = (typeof POLICY_NAMES)[number];
export type OrderName = (typeof ORDER_NAMES)[number];
export type AdmissionName = (typeof ADMISSION_NAMES)[number];
export type RetentionName = (typeof RETENTION_NAMES)[number];
export type ForesightName = (typeof FORESIGHT_NAMES)[number];
export type TenantsName = (typeof TENANTS_NAMES)[number];

export interface PolicySettings {
  /** Upper bound of attained service in the first queue. */
  readonly firstQuantumMs: number;
  /** Charge of a program: the time of all its calls, or of its longest chain (ATLAS). */
  readonly charge: (typeof CHARGE_NAMES)[number];
  /** Order of programs: by the service to expect until they end, learnt by agent type, or by the service attained. */
  readonly order: OrderName;
  /** Whether a program's first call stands as if its prompt, at `msPerPromptToken`, had been served already. */
  readonly countPrompt: boolean;
  /** Prefill milliseconds of a prompt token: of `countPrompt`, of declared work, and of an engine not yet measured. */
  readonly msPerPromptToken: number;
  /** Decode milliseconds of an output token, of declared work. */
  readonly msPerOutputToken: number;
  /** Knowledge beside the learnt order: none, or the work to come that clients declare. `plas` ranks by it. */
  readonly foresight: ForesightName;
}

/** Settings of one scheduler, within the gateway's configuration; docs/CONFIG.md has the defaults. */
export interface SchedulerConfig {
  readonly policy: PolicySettings & {
    readonly name: PolicyName;
    /** How engine time is divided among tenants, above the policy: not at all, or by weight. */
    readonly tenants: TenantsName;
    /** Weights by tenant; a tenant that is not named has the weight 1. */
    readonly tenantWeights: Readonly<Record<string, number>>;
  };
  readonly starvation: {
    /** Ratio of waiting to service at which a call is promoted. */
    readonly beta: number;
    /** Least service in the ratio's denominator: without it a new program's ratio has no bound. */
    readonly floorMs: number;
    /** Wait of one call that promotes it whatever the ratio. */
    readonly waitMsMax: number;
  };
  readonly admission: {
    /** `auto`: the engine's own limit where known, else adaptive. A number: at most that many on every engine. */
    readonly window: 'auto' | 'adaptive' | number;
    /** Calls in flight that an adaptive window begins with, and its least and its largest number of them. */
    readonly windowInitial: number;
    readonly windowMin: number;
    readonly windowMax: number;
    /** Share of an engine's KV capacity that the working set may take; 0: no gate. */
    readonly gate: number;
    /** Share of an engine's host memory that idle contexts may take beside that; 0: the host is not counted. */
    readonly hostGate: number;
    /** Whether a call is held that would slow the running ones by more than it gains (`policies/admission-knee.ts`). */
    readonly batching: AdmissionName;
    /** Most of an engine's time that background calls may cost others there; the rest they take where it is idle. */
    readonly backgroundShare: number;
    /**
     * Milliseconds in which the room held for an idle context halves, with `retention: half-life`. The unit of age of all
     * rules: after four of them nothing is held, and an idle program counts as ended.
     */
    readonly halfLifeMs: number;
    /**
     * Rule by which idle contexts are held: by the return times learnt, fading by the half-life, or not at all. Only the
     * simulator has rules of its own.
     */
    readonly retention: RetentionName | (() => RetentionPolicy);
    /**
     * Whether a context counts the size that it is expected to reach: learnt by agent type and length of the first prompt,
     * by that length alone, or not at all.
     */
    readonly forecast: (typeof FORECAST_NAMES)[number];
    readonly sharedPrefixes: 'family' | 'none';
    /** Output set aside for a call that names no smaller limit. */
    readonly outputReserveTokens: number;
    /** Wait after which idle contexts must make way for a call, and no later call may take its room. */
    readonly reserveMs: number;
    /** Least time between two such calls on one engine: each pushes residents out, and too many leave no residents. */
    readonly turnMs: number;
  };
  readonly balancer: {
    /** Wait after which a call may leave its engine for one with nothing of its own to run. */
    readonly spillMs: number;
  };
  readonly limits: {
    /** Rows of the process table. At least `queuedMax` plus the calls in flight, so that an active row always fits. */
    readonly programsMax: number;
    /** Waiting calls above which new ones are refused (`queue_full`): of all tenants, and of one. */
    readonly queuedMax: number;
    readonly queuedPerTenantMax: number;
    /** Attempts of a call, each on an engine that broke, after which it is refused. */
    readonly attemptsMax: number;
    /** Engines that a call may break on, after which it is refused: the fault is likely its own. */
    readonly enginesFailedMax: number;
    /** Assumed retries of a client: a call is refused on arrival only if its wait would outlast them all. */
    readonly clientRetries: number;
  };
  readonly timeouts: {
    /** Upper bound on the wait in the queue, over all attempts of a call. */
    readonly queueMs: number;
    /** Upper bound on the wait while no engine that may run the call is up, or none can be reached. */
    readonly noEngineMs: number;
    /** Idle time after which a program is forgotten. */
    readonly leaseMs: number;
    /** Time for which a queued call's place is kept after its client hung up or it timed out; 0: not at all. */
    readonly ghostMs: number;
  };
}

/**
 * Least `timeouts.queueMs` for these settings, in milliseconds. After the later of `waitMsMax` and `reserveMs` a call
 * is at the front and may displace idle contexts. An engine gives such a turn once each `turnMs`. A call refused sooner
 * would have waited for a turn that it never gets.
 */
export function queueMsLeast({ starvation, admission }: Pick<SchedulerConfig, 'starvation' | 'admission'>): number {
  return Math.max(starvation.waitMsMax, admission.reserveMs) + admission.turnMs;
}

/** Weights lie within a million to each side of 1, so that no share is lost in rounding. */
const WEIGHT_MIN = 1e-6;
/** Upper bound on all other counts: above it sums of them lose whole numbers, and nothing has as many. */
const COUNT_MAX = 1e9;

/** The least value of a setting that must be greater than 0. */
const ABOVE_0 = Number.MIN_VALUE;
type Leasts<Section> = { readonly [Key in keyof Section]?: number };
/** The sections, and the least values of their finite numbers. An untyped caller may leave any out. */
const LEAST: { readonly [Section in keyof SchedulerConfig]: Leasts<SchedulerConfig[Section]> } = {
  policy: { firstQuantumMs: ABOVE_0, msPerPromptToken: 0, msPerOutputToken: 0 },
  starvation: { beta: ABOVE_0, floorMs: ABOVE_0, waitMsMax: ABOVE_0 },
  admission: { gate: 0, hostGate: 0, backgroundShare: 0, halfLifeMs: 1, reserveMs: 0, turnMs: 0 },
  balancer: { spillMs: 0 },
  limits: {},
  timeouts: { queueMs: ABOVE_0, noEngineMs: 0, leaseMs: ABOVE_0, ghostMs: 0 },
};

/** Checks names and ranges. @throws RangeError that names the first setting that is missing, unknown or out of range. */
export function checkConfig(config: SchedulerConfig): void {
  const sections = config as unknown as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  for (const section of Object.keys(LEAST))
    if (sections[section] === undefined) throw new RangeError(`${section} is missing; spread \`defaults\``);
  checkNames(config);
  const { tenantWeights } = config.policy;
  if ((tenantWeights as unknown) === undefined) throw new RangeError('policy.tenantWeights is missing');
  checkCounts(config);
  for (const [tenant, weight] of Object.entries(tenantWeights))
    checkLeast(`policy.tenantWeights.${tenant}`, weight, WEIGHT_MIN);
  for (const [section, leasts] of Object.entries<Readonly<Record<string, number>>>(LEAST))
    for (const [key, least] of Object.entries(leasts)) checkLeast(`${section}.${key}`, sections[section]?.[key], least);
}

function checkLeast(name: string, value: unknown, least: number): void {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < least)
    throw new RangeError(`${name} must be finite and >= ${least}, got ${String(value)}`);
}

function checkCounts({ admission, limits }: SchedulerConfig): void {
  const window = typeof admission.window === 'number' ? admission.window : 1;
  const { windowMin, windowInitial, windowMax, outputReserveTokens } = admission;
  const counts: readonly (readonly [name: string, value: number, least: number])[] = [
    ['admission.window', window, 1],
    ['admission.windowMin', windowMin, 1],
    ['admission.windowInitial', windowInitial, windowMin],
    ['admission.windowMax', windowMax, windowInitial],
    ['admission.outputReserveTokens', outputReserveTokens, 0],
    ['limits.programsMax', limits.programsMax, 1],
    ['limits.queuedMax', limits.queuedMax, 1],
    ['limits.queuedPerTenantMax', limits.queuedPerTenantMax, 1],
    ['limits.attemptsMax', limits.attemptsMax, 1],
    ['limits.enginesFailedMax', limits.enginesFailedMax, 1],
    ['limits.clientRetries', limits.clientRetries, 0],
  ];
  for (const [name, value, least] of counts)
    if (!Number.isInteger(value) || value < least || value > COUNT_MAX)
      throw new RangeError(`${name} must be a whole number from ${least} to ${COUNT_MAX}, got ${value}`);
}

/** `policy.name` is left to `makePolicy`: a policy given to the scheduler replaces it. */
function checkNames({ policy, admission }: SchedulerConfig): void {
  const oneOf: readonly (readonly [string, unknown, readonly unknown[]])[] = [
    ['policy.countPrompt', policy.countPrompt, [true, false]],
    ['policy.charge', policy.charge, CHARGE_NAMES],
    ['policy.order', policy.order, ORDER_NAMES],
    ['policy.foresight', policy.foresight, FORESIGHT_NAMES],
    ['policy.tenants', policy.tenants, TENANTS_NAMES],
    ['admission.window', typeof admission.window === 'number' ? 'auto' : admission.window, ['auto', 'adaptive']],
    ['admission.batching', admission.batching, ADMISSION_NAMES],
    ['admission.retention', typeof admission.retention === 'function' ? 'lru' : admission.retention, RETENTION_NAMES],
    ['admission.forecast', admission.forecast, FORECAST_NAMES],
    ['admission.sharedPrefixes', admission.sharedPrefixes, ['family', 'none']],
  ];
  for (const [name, value, known] of oneOf)
    if (!known.includes(value)) throw new RangeError(`${name} is none of ${known.join(', ')}: ${String(value)}`);
}
