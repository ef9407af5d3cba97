import type { PolicyName } from './policies/policy.js';
import type { RetentionName } from './policies/retention.js';

/** What a policy can be told. */
export interface PolicySettings {
  /** Number of queues, K. */
  readonly levels: number;
  /** Upper bound of the first queue's range of attained service. */
  readonly firstQuantumMs: number;
  /** Each queue's upper bound over that of the queue before it. */
  readonly quantumRatio: number;
  /** Whether a program's first call stands as if its prompt, at `msPerPromptToken`, had been served already. */
  readonly countPrompt: boolean;
  /** `time`: engine milliseconds. `tokens`: uncached prompt and output tokens by the two weights below. */
  readonly service: 'time' | 'tokens';
  /** Prefill time of a prompt token: of `countPrompt`, of `service: tokens`, and of an engine until it was measured. */
  readonly msPerPromptToken: number;
  readonly msPerOutputToken: number;
}

/** Settings of one scheduler. The gateway's configuration has this shape and more; docs/CONFIG.md tells each key's default. */
export interface SchedulerConfig {
  readonly policy: PolicySettings & { readonly name: PolicyName };
  readonly starvation: {
    /** Ratio of waiting to service at which a call is promoted. */
    readonly beta: number;
    /** Least service that the ratio is taken against: without it a new program's ratio has no bound. */
    readonly floorMs: number;
    /** Wait of one call that promotes it whatever the ratio: no program goes without service for longer unless others are ahead. */
    readonly waitMsMax: number;
  };
  readonly admission: {
    /** `auto`: the engine's own limit where known, else adaptive. A number: at most that many on every engine. */
    readonly window: 'auto' | 'adaptive' | number;
    readonly windowInitial: number;
    readonly windowMin: number;
    readonly windowMax: number;
    /** Share of an engine's KV capacity that the working set may take; 0: no gate. */
    readonly gate: number;
    readonly halfLifeMs: number;
    /** How long idle contexts are held: as learnt from earlier ones, or fading alike by the half-life. */
    readonly retention: RetentionName;
    /** Whether a context counts what it is expected to grow to. */
    readonly forecast: 'learnt' | 'none';
    /** Whether the beginning that a family of programs shares is counted once. */
    readonly sharedPrefixes: 'family' | 'none';
    /** Output set aside for a call that names no smaller limit. */
    readonly outputReserveTokens: number;
    /** Wait after which idle programs' contexts must make way for a call, and nothing behind it may take its room. */
    readonly reserveMs: number;
    /** Least time between two such calls on one engine: each pushes residents out, and too many leave no residents. */
    readonly turnMs: number;
  };
  readonly balancer: {
    /** Wait after which a call may leave its engine for one that has nothing of its own to run. */
    readonly spillMs: number;
  };
  readonly limits: {
    /** Rows of the process table. At least `queuedMax` plus the calls in flight, so that an active row always fits. */
    readonly programsMax: number;
    readonly queuedMax: number;
    readonly queuedPerTenantMax: number;
    /** Times a call is given to an engine that breaks. */
    readonly attemptsMax: number;
    /** Retries that a client is taken to make: a call is refused on arrival only if it would outwait them all. */
    readonly clientRetries: number;
  };
  readonly timeouts: {
    /** Longest wait in the queue, in all attempts together. */
    readonly queueMs: number;
    /** Idle time after which a program is forgotten. */
    readonly leaseMs: number;
    /** How long the place of a queued call is kept whose client hung up, or that waited too long; 0: not at all. */
    readonly ghostMs: number;
  };
}

/**
 * Least `timeouts.queueMs` for these settings. A call is at the front and may take idle contexts' place after `waitMsMax`
 * or `reserveMs`, whichever is later; an engine gives such a turn once each `turnMs`. Refused any sooner, it would have
 * waited for a turn that it never gets.
 */
export function queueMsLeast({ starvation, admission }: Pick<SchedulerConfig, 'starvation' | 'admission'>): number {
  return Math.max(starvation.waitMsMax, admission.reserveMs) + admission.turnMs;
}

/** @throws RangeError that names the first setting out of range. */
export function checkConfig(config: SchedulerConfig): void {
  const { policy, starvation, admission, balancer, limits, timeouts } = config;
  const window = typeof admission.window === 'number' ? admission.window : 1;
  const atLeast: readonly (readonly [string, number, number])[] = [
    ['policy.levels', policy.levels, 1],
    ['policy.firstQuantumMs', policy.firstQuantumMs, Number.MIN_VALUE],
    ['policy.quantumRatio', policy.quantumRatio, 1],
    ['policy.msPerPromptToken', policy.msPerPromptToken, 0],
    ['policy.msPerOutputToken', policy.msPerOutputToken, 0],
    ['starvation.beta', starvation.beta, Number.MIN_VALUE],
    ['starvation.floorMs', starvation.floorMs, Number.MIN_VALUE],
    ['starvation.waitMsMax', starvation.waitMsMax, Number.MIN_VALUE],
    ['admission.window', window, 1],
    ['admission.windowMin', admission.windowMin, 1],
    ['admission.windowInitial', admission.windowInitial, admission.windowMin],
    ['admission.windowMax', admission.windowMax, admission.windowInitial],
    ['admission.gate', admission.gate, 0],
    ['admission.halfLifeMs', admission.halfLifeMs, 1],
    ['admission.outputReserveTokens', admission.outputReserveTokens, 0],
    ['admission.reserveMs', admission.reserveMs, 0],
    ['admission.turnMs', admission.turnMs, 0],
    ['balancer.spillMs', balancer.spillMs, 0],
    ['limits.programsMax', limits.programsMax, 1],
    ['limits.queuedMax', limits.queuedMax, 1],
    ['limits.queuedPerTenantMax', limits.queuedPerTenantMax, 1],
    ['limits.attemptsMax', limits.attemptsMax, 1],
    ['limits.clientRetries', limits.clientRetries, 0],
    ['timeouts.queueMs', timeouts.queueMs, Number.MIN_VALUE],
    ['timeouts.leaseMs', timeouts.leaseMs, Number.MIN_VALUE],
    ['timeouts.ghostMs', timeouts.ghostMs, 0],
  ];
  for (const [name, value, least] of atLeast) {
    if (!Number.isFinite(value) || value < least)
      throw new RangeError(`${name} must be finite and >= ${least}, got ${value}`);
  }
}
