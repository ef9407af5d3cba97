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
export type RetentionName = (typeof RETENTION_NAMES)[number];

/** One setting: its default, and what is wrong with a value; undefined: nothing. */
interface Setting<Value, Default extends Value = Value> {
  readonly by: Default;
  readonly fault: (value: unknown) => string | undefined;
}

/** Weights lie within a million to each side of 1, so that no share is lost in rounding. */
const WEIGHT_MIN = 1e-6;
/** Upper bound on counts: above it sums of them lose whole numbers, and nothing has as many. */
const COUNT_MAX = 1e9;

function number(least: number, by: number): Setting<number> {
  const isRight = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= least;
  return { by, fault: (value) => (isRight(value) ? undefined : `must be finite and >= ${least}`) };
}

const above0 = (by: number): Setting<number> => number(Number.MIN_VALUE, by);

function count(least: number, by: number): Setting<number> {
  const isRight = (value: unknown) => Number.isInteger(value) && Number(value) >= least && Number(value) <= COUNT_MAX;
  return {
    by,
    fault: (value) => (isRight(value) ? undefined : `must be a whole number from ${least} to ${COUNT_MAX}`),
  };
}

function oneOf<const Value, Default extends Value = Value>(
  known: readonly Value[],
  by: Default,
): Setting<Value, Default> {
  const isKnown = (value: unknown) => known.some((each) => each === value);
  return { by, fault: (value) => (isKnown(value) ? undefined : `must be one of ${known.join(', ')}`) };
}

const weights: Setting<Readonly<Record<string, number>>> = {
  by: {},
  fault: (value) => {
    if (typeof value !== 'object' || value === null) return 'must have the weights by tenant';
    const wrong = Object.entries(value).find(([, weight]) => number(WEIGHT_MIN, 1).fault(weight) !== undefined);
    return wrong && `must be finite and >= ${WEIGHT_MIN} for ${wrong[0]}, which has ${String(wrong[1])}`;
  },
};

/** All settings of one scheduler, within the gateway's configuration; docs/CONFIG.md says where each default comes from. */
const SETTINGS = {
  policy: {
    /** Left to `makePolicy`: a policy given to the scheduler replaces it. */
    name: { by: 'plas', fault: () => undefined } as Setting<PolicyName>,
    /** Upper bound of attained service in the first queue. */
    firstQuantumMs: above0(125),
    /** Charge of a program: the time of all its calls, or of its longest chain (ATLAS). */
    charge: oneOf(CHARGE_NAMES, 'work'),
    /** Order of programs: by the service to expect until they end, learnt by agent type, or by the service attained. */
    order: oneOf(ORDER_NAMES, 'learnt'),
    /** Whether a program's first call stands as if its prompt, at `msPerPromptToken`, had been served already. */
    countPrompt: oneOf([true, false], true),
    /** Prefill milliseconds of a prompt token: of `countPrompt`, of declared work, and of an engine not yet measured. */
    msPerPromptToken: number(0, 0.1),
    /** Decode milliseconds of an output token, of declared work. */
    msPerOutputToken: number(0, 20),
    /** Knowledge beside the learnt order: none, or the work to come that clients declare. `plas` ranks by it. */
    foresight: oneOf(FORESIGHT_NAMES, 'none'),
    /** How engine time is divided among tenants, above the policy: not at all, or by weight. */
    tenants: oneOf(TENANTS_NAMES, 'none'),
    /** Weights by tenant; a tenant that is not named has the weight 1. */
    tenantWeights: weights,
  },
  starvation: {
    /** Ratio of waiting to service at which a call is promoted. */
    beta: above0(8),
    /** Least service in the ratio's denominator: without it a new program's ratio has no bound. */
    floorMs: above0(20_000),
    /** Wait of one call that promotes it whatever the ratio. */
    waitMsMax: above0(300_000),
  },
  admission: {
    /** `auto`: the engine's own limit where known, else adaptive. A number: at most that many on every engine. */
    window: {
      by: 'auto',
      fault: (value) => (typeof value === 'number' ? count(1, 1) : oneOf(['auto', 'adaptive'], 'auto')).fault(value),
    } as Setting<'auto' | 'adaptive' | number>,
    /** Calls in flight that an adaptive window begins with, and its least and its largest number of them. */
    windowInitial: count(1, 16),
    windowMin: count(1, 2),
    windowMax: count(1, 1024),
    /** Share of an engine's KV capacity that the working set may take; 0: no gate. */
    gate: number(0, 0.9),
    /** Share of an engine's host memory that idle contexts may take beside that; 0: the host is not counted. */
    hostGate: number(0, 0.9),
    /** Whether a call is held that would slow the running ones by more than it gains (`placement/knee.ts`). */
    batching: oneOf(ADMISSION_NAMES, 'knee'),
    /** Most of an engine's time that background calls may cost others there; the rest they take where it is idle. */
    backgroundShare: number(0, 0.1),
    /**
     * Milliseconds in which the room held for an idle context halves, with `retention: half-life`. The unit of age of all
     * rules: after four of them nothing is held, and an idle program counts as ended.
     */
    halfLifeMs: number(1, 20_000),
    /** How idle contexts are held: by learnt return times, by half-life, or not. The simulator has further rules. */
    retention: {
      by: 'learnt',
      fault: (value) => (typeof value === 'function' ? undefined : oneOf(RETENTION_NAMES, 'lru').fault(value)),
    } as Setting<RetentionName | (() => RetentionPolicy), RetentionName>,
    /** Whether contexts count their expected size: by agent type and first prompt's length, by length alone, or not. */
    forecast: oneOf(FORECAST_NAMES, 'learnt'),
    sharedPrefixes: oneOf(['family', 'none'], 'family'),
    /** Output set aside for a call that names no smaller limit. */
    outputReserveTokens: count(0, 256),
    /** Wait after which idle contexts must make way for a call, and no later call may take its room. */
    reserveMs: number(0, 120_000),
    /** Least time between two such calls on one engine: each pushes residents out, and too many leave no residents. */
    turnMs: number(0, 300_000),
  },
  /** Wait after which a call may leave its engine for one with nothing of its own to run. */
  balancer: { spillMs: number(0, 10_000) },
  limits: {
    /** Rows of the process table. At least `queuedMax` plus the calls in flight, so that an active row always fits. */
    programsMax: count(1, 100_000),
    /** Waiting calls above which new ones are refused (`queue_full`): of all tenants, and of one. */
    queuedMax: count(1, 10_000),
    queuedPerTenantMax: count(1, 5000),
    /** Attempts of a call, each on an engine that broke, after which it is refused. */
    attemptsMax: count(1, 3),
    /** Engines that a call may break on, after which it is refused: the fault is likely its own. */
    enginesFailedMax: count(1, 2),
    /** Assumed retries of a client: a call is refused on arrival only if its wait would outlast them all. */
    clientRetries: count(0, 2),
  },
  timeouts: {
    /** Upper bound on the wait in the queue, over all attempts of a call. */
    queueMs: above0(1_800_000),
    /** Upper bound on the wait while no engine that may run the call is up, or none can be reached. */
    noEngineMs: number(0, 30_000),
    /** Idle time after which a program is forgotten. */
    leaseMs: above0(1_800_000),
    /** Time for which a queued call's place is kept after its client hung up or it timed out; 0: not at all. */
    ghostMs: number(0, 120_000),
  },
};

type Values<Section> = {
  readonly [Key in keyof Section]: Section[Key] extends Setting<infer Value, infer Value> ? Value : never;
};
type Defaults<Section> = { readonly [Key in keyof Section]: Section[Key] extends { by: infer Value } ? Value : never };
export type SchedulerConfig = { readonly [Name in keyof typeof SETTINGS]: Values<(typeof SETTINGS)[Name]> };

const sections = Object.entries<Readonly<Record<string, Setting<unknown>>>>(SETTINGS);

/** The shipped settings. To change one: `{ ...defaults, policy: { ...defaults.policy, name: 'fcfs-window' } }`. */
export const defaults = Object.fromEntries(
  sections.map(([name, settings]) => [
    name,
    Object.fromEntries(Object.entries(settings).map(([key, { by }]) => [key, by])),
  ]),
) as { readonly [Name in keyof typeof SETTINGS]: Defaults<(typeof SETTINGS)[Name]> };

/**
 * Least `timeouts.queueMs` for these settings, in milliseconds. After the later of `waitMsMax` and `reserveMs` a call
 * is at the front and may displace idle contexts. An engine gives such a turn once each `turnMs`. A call refused sooner
 * would have waited for a turn that it never gets.
 */
export function queueMsLeast({ starvation, admission }: Pick<SchedulerConfig, 'starvation' | 'admission'>): number {
  return Math.max(starvation.waitMsMax, admission.reserveMs) + admission.turnMs;
}

/** Checks all settings. @throws RangeError that names the first one that is missing, unknown or out of range. */
export function checkConfig(config: SchedulerConfig): void {
  // An untyped caller may leave any out.
  const given = config as unknown as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
  for (const [section, settings] of sections) {
    const values = given[section];
    if (values === undefined) throw new RangeError(`${section} is missing; spread \`defaults\``);
    for (const [key, { fault }] of Object.entries(settings)) check(`${section}.${key}`, values[key], fault);
  }
  const { windowMin, windowInitial, windowMax } = config.admission;
  check('admission.windowInitial', windowInitial, count(windowMin, windowMin).fault);
  check('admission.windowMax', windowMax, count(windowInitial, windowInitial).fault);
}

function check(name: string, value: unknown, fault: Setting<unknown>['fault']): void {
  const wrong = fault(value);
  const shown = typeof value === 'object' && value !== null ? '' : `; it is ${String(value)}`;
  if (wrong !== undefined) throw new RangeError(`${name} ${wrong}${shown}`);
}
