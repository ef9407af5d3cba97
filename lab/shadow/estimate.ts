import { makeBalancer, type BalancerOptions } from '../../loadbalancer/index.js';
import type { SchedulerConfig } from '../../src/index.js';
import {
  DEFAULT_PRESET,
  PRESETS,
  fitTraffic,
  makeSteps,
  runWorld,
  type EngineResult,
  type Preset,
  type SimPolicyName,
  type TrafficFit,
} from '../../sim/index.js';
import { pairedRatio, type Ratio } from '../measure/comparison.js';
import { poolWindow, type PoolWindow } from './pool-window.js';
import { poolsOf, type Pool } from './pools.js';
import { servedCalls } from './served-calls.js';
import type { ShadowWindow } from './window.js';

export type ShadowSettings = SchedulerConfig & { readonly balancer: BalancerOptions };

/** Why there is no figure. */
type Doubt =
  | 'capacity_unknown' // an engine's KV cache is not known
  | 'cache_unknown' // engines do not report the prompt tokens that they found in their caches
  | 'engines_differ' // in their models, or much in their sizes
  | 'few_programs' // too few programs began in the window
  | 'unanswered' // too many calls ended without an answer
  | 'not_fitted' // too few calls for a model of the engines
  | 'beyond_seen' // fcfs would run more calls at a time than the model of the engines can be trusted for
  | 'model_differs' // the simulated programs take much longer, or shorter, than the real ones
  | 'too_slow'; // the simulation takes too long

/** Mean times of the programs that count, and what the shadow scheduler would have made of them. */
export interface PoolEstimate {
  readonly models: readonly string[];
  readonly engines: number;
  /** Programs that count, and calls of all programs. */
  readonly programs: number;
  readonly calls: number;
  readonly doubt: Doubt | undefined;
  readonly measuredMs: number | undefined;
  /** Under the policy in force. */
  readonly simulatedMs: number | undefined;
  readonly fcfsMs: number | undefined;
  /** Time under fcfs over that under the policy in force. */
  readonly ratio: Ratio | undefined;
  /** Median error of the fitted model's times of single calls. */
  readonly callError: number | undefined;
}

interface EstimateOptions {
  readonly settings: ShadowSettings;
  readonly reportMs: number;
  readonly nowMs: number;
  /** Polled in simulations; true ends them. */
  readonly shouldStop: () => boolean;
}

const PROGRAMS_MIN = 20;
const UNANSWERED_SHARE_MAX = 0.1;
const MODEL_ERROR_MAX = 0.25;
/** Sizes of engines in one pool that count as equal. */
const SIZE_RATIO_MAX = 1.2;

export function estimate(window: ShadowWindow, options: EstimateOptions): PoolEstimate[] {
  return poolsOf(window.engines).map((pool) => new PoolEstimator(window, pool, options).estimate());
}

interface Simulated {
  /** Time of each program that counts, by its id. */
  readonly programMs: ReadonlyMap<string, number>;
  /** Mean number of calls in a step. */
  readonly calls: number;
}

const total = (engines: readonly EngineResult[], name: 'generatedTokens' | 'steps'): number =>
  engines.reduce((sum, engine) => sum + engine[name], 0);

class PoolEstimator {
  readonly #window: PoolWindow;

  constructor(
    window: ShadowWindow,
    private readonly pool: Pool,
    private readonly options: EstimateOptions,
  ) {
    this.#window = poolWindow(window, pool, options.nowMs);
  }

  estimate(): PoolEstimate {
    const doubt = this.#doubt();
    if (doubt !== undefined) return this.#answer({ doubt });
    const fit = fitTraffic(this.#base(), servedCalls(this.#window.steps), this.options.nowMs);
    if (fit === undefined) return this.#answer({ doubt: 'not_fitted' });
    const { error: callError, callsMax } = fit;
    const [now, fcfs] = [this.options.settings.policy.name, 'fcfs' as const].map((policy) =>
      this.#simulate(policy, fit),
    );
    if (now === undefined || fcfs === undefined) return this.#answer({ doubt: 'too_slow', callError });
    const ids = [...this.#window.counted.keys()];
    const meanMs = (ms: (id: string) => number | undefined) =>
      ids.reduce((sum, id) => sum + (ms(id) ?? NaN), 0) / ids.length;
    const measuredMs = meanMs((id) => this.#window.counted.get(id)?.measuredMs);
    const simulatedMs = meanMs((id) => now.programMs.get(id));
    const found = { measuredMs, simulatedMs, callError };
    // Also where one of them is no number.
    if (!(Math.abs(simulatedMs / measuredMs - 1) <= MODEL_ERROR_MAX))
      return this.#answer({ ...found, doubt: 'model_differs' });
    if (fcfs.calls > callsMax) return this.#answer({ ...found, doubt: 'beyond_seen' });
    const ratio = pairedRatio(ids.map((id) => [now.programMs.get(id) ?? NaN, fcfs.programMs.get(id) ?? NaN]));
    return this.#answer({ ...found, fcfsMs: meanMs((id) => fcfs.programMs.get(id)), ratio });
  }

  #answer(found: Partial<PoolEstimate>): PoolEstimate {
    const { pool } = this;
    const { counted, calls } = this.#window;
    return {
      models: [...pool.models],
      engines: pool.engines.length,
      programs: counted.size,
      calls,
      doubt: undefined,
      measuredMs: undefined,
      simulatedMs: undefined,
      fcfsMs: undefined,
      ratio: undefined,
      callError: undefined,
      ...found,
    };
  }

  #doubt(): Doubt | undefined {
    const { engines, models } = this.pool;
    const { counted, calls, unanswered, steps } = this.#window;
    if (engines.some(({ capacityTokens }) => capacityTokens === undefined)) return 'capacity_unknown';
    const capacities = engines.map(({ capacityTokens = 0 }) => capacityTokens);
    if (engines.some((engine) => engine.models.length < models.size)) return 'engines_differ';
    if (Math.max(...capacities) > SIZE_RATIO_MAX * Math.min(...capacities)) return 'engines_differ';
    if (counted.size < PROGRAMS_MIN) return 'few_programs';
    if (unanswered > UNANSWERED_SHARE_MAX * (calls + unanswered)) return 'unanswered';
    const isCounted = steps.some(
      ({ event }) => event.type === 'callFinished' && event.usage?.cachedTokens !== undefined,
    );
    return isCounted ? undefined : 'cache_unknown';
  }

  /** The sizes of the engines; only their times are fitted. */
  #base(): Preset {
    const { engines } = this.pool;
    const [first] = engines;
    const base = PRESETS[DEFAULT_PRESET];
    const kvTokens = engines.reduce((sum, { capacityTokens = 0 }) => sum + capacityTokens, 0) / engines.length;
    return {
      ...base,
      kvTokens,
      slots: first?.windowMax ?? base.slots,
      maxModelLen: Math.min(first?.contextTokensMax ?? kvTokens, kvTokens),
    };
  }

  /** Returns undefined if it took too long. */
  #simulate(policy: SimPolicyName, { preset, outsideMs }: TrafficFit): Simulated | undefined {
    const { settings, reportMs, shouldStop } = this.options;
    const { counted } = this.#window;
    // Before each call, as the simulator's own calls take no time outside the engine.
    const programs = this.#window.programs.map((program) => ({
      ...program,
      calls: program.calls.map((call) => ({ ...call, gapMs: call.gapMs + outsideMs })),
    }));
    const arrivalMs = new Map(programs.map((program) => [program.id, program.arrivalMs ?? 0]));
    const [first] = arrivalMs.values();
    const programMs = new Map<string, number>();
    const { complete, engines } = runWorld({
      programs,
      arrivals: { type: 'trace', speed: 1 },
      seed: 1,
      engines: this.pool.engines.length,
      engine: { preset, blockSize: 16, scheduling: 'fcfs' },
      scheduler: () => makeSteps(policy, this.#settings(), makeBalancer(settings.balancer)),
      observer: {
        callEnded: ({ program, call, endedMs }) => {
          if (call >= (counted.get(program)?.calls ?? 0)) return;
          const ms = endedMs - ((arrivalMs.get(program) ?? 0) - (first ?? 0));
          programMs.set(program, Math.max(ms, programMs.get(program) ?? 0));
        },
        programEnded: () => undefined,
      },
      reports: { everyMs: reportMs },
      alone: false,
      shouldStop,
    });
    // Each call in a step gets a token of it.
    return complete ? { programMs, calls: total(engines, 'generatedTokens') / total(engines, 'steps') } : undefined;
  }

  /** The simulator's engines do not tell their limits, so those that are known are set. */
  #settings(): ShadowSettings {
    const { settings } = this.options;
    const windowMax = this.pool.engines[0]?.windowMax;
    if (settings.admission.window !== 'auto' || windowMax === undefined) return settings;
    return { ...settings, admission: { ...settings.admission, window: windowMax } };
  }
}
