import { pairedRatio } from '../../lab/index.js';
import { makeBalancer, type BalancerOptions } from '../../loadbalancer/index.js';
import type { ShadowAnswer } from '../../sidecar/admin/answers.js';
import {
  DEFAULT_PRESET,
  PRESETS,
  fitTraffic,
  makeSteps,
  runWorld,
  type Preset,
  type TrafficFit,
} from '../../sim/index.js';
import type { CallArrived, PolicyName, SchedulerConfig } from '../../src/index.js';
import { poolsOf, programsOf, servedOf, type Pool, type PoolPrograms } from './pool.js';
import type { Seen } from './seen-calls.js';

export type ShadowSettings = SchedulerConfig & {
  readonly balancer: BalancerOptions;
  /** Ids of the engines that are the simulator's own. */
  readonly embedded?: readonly string[];
};

type PoolAnswer = ShadowAnswer['pools'][number];

interface Scene extends PoolPrograms {
  readonly pool: Pool;
  readonly settings: ShadowSettings;
  readonly shouldStop: () => boolean;
}

const PROGRAMS_MIN = 20;
const UNANSWERED_SHARE_MAX = 0.1;
/** Unfinished programs hide work that would delay others under `pass-through`: above this share, no estimate is given. */
const UNFINISHED_SHARE_MAX = 0.2;
/** Beyond this error, the simulated engines are not the real ones. */
const ERROR_MAX = 0.25;
/** A delay also changes how many calls run at a time, and so the time of each. */
const DELAY_ROUNDS = 2;
/** Sizes of engines in one pool that count as equal. */
const SIZE_RATIO_MAX = 1.2;

/**
 * Times that `pass-through` would have given these calls, for each pool.
 * @param shouldStop polled in simulations; true ends them
 */
export function estimate(seen: Seen, settings: ShadowSettings, shouldStop: () => boolean): PoolAnswer[] {
  return poolsOf(seen).map((pool) => {
    const programs = programsOf(pool);
    return {
      models: [...pool.models],
      engines: pool.engines.length,
      programs: programs.counted.size,
      calls: pool.ended.length,
      ...verdict({ ...programs, pool, settings, shouldStop }),
    };
  });
}

function verdict(scene: Scene): Pick<PoolAnswer, 'doubt' | 'replay' | 'gain'> {
  const { counted, settings } = scene;
  const no = (doubt: PoolAnswer['doubt'], replay: PoolAnswer['replay'] = null) => ({ doubt, replay, gain: null });
  const doubt = doubtOf(scene);
  if (doubt !== null) return no(doubt);
  const fit = fitOf(scene);
  if (typeof fit === 'string') return no(fit);
  const now = simulate(scene, settings.policy.name, fit);
  if (typeof now === 'string') return no(now);
  const ids = [...counted.keys()];
  const meanMs = (msOf: (id: string) => number) => ids.reduce((sum, id) => sum + msOf(id), 0) / ids.length;
  const measuredMs = meanMs((id) => counted.get(id)?.measuredMs ?? NaN);
  const simulatedMs = meanMs(now.msOf);
  const off = Math.max(simulatedMs / measuredMs, measuredMs / simulatedMs);
  const replay = { measured_seconds: measuredMs / 1000, simulated_seconds: simulatedMs / 1000, error: off - 1 };
  // The other simulation would be the same.
  if (settings.policy.name === 'pass-through') return no('no_difference', replay);
  if (off - 1 > ERROR_MAX) return no('model_differs', replay);
  const passed = simulate(scene, 'pass-through', fit);
  if (typeof passed === 'string') return no(passed, replay);
  if (passed.inStep > fit.callsMax) return no('beyond_seen', replay);
  const { ratio, low, high } = pairedRatio(ids.map((id) => [now.msOf(id), passed.msOf(id)]));
  const [lowest, highest] = [(low ?? NaN) / off, (high ?? NaN) * off];
  if (ratio === null || !(lowest > 1 || highest < 1)) return no('no_difference', replay);
  const gain = { pass_through_seconds: meanMs(passed.msOf) / 1000, ratio, ratio_low: lowest, ratio_high: highest };
  return { doubt: null, replay, gain };
}

/** Before any simulation: its CPU time would put the next estimate off. */
function doubtOf({ pool, counted, programs, settings }: Scene): PoolAnswer['doubt'] {
  const { engines, models, ended, open } = pool;
  const answers = ended.flatMap(({ usage }) => usage ?? []);
  const capacities = engines.flatMap(({ capacityTokens }) => capacityTokens ?? []);
  if (settings.policy.foresight !== 'none') return 'foresight';
  if (capacities.length < engines.length) return 'capacity_unknown';
  if (engines.some((engine) => engine.models.length < models.size)) return 'engines_differ';
  if (Math.max(...capacities) > SIZE_RATIO_MAX * Math.min(...capacities)) return 'engines_differ';
  if (counted.size < PROGRAMS_MIN) return 'few_programs';
  if (ended.length - answers.length > UNANSWERED_SHARE_MAX * ended.length) return 'unanswered';
  if (answers.every(({ cachedTokens }) => cachedTokens === undefined)) return 'cache_unknown';
  const unfinished = new Set(open.map(({ arrival }) => arrival.program)).size;
  return unfinished > UNFINISHED_SHARE_MAX * programs.length ? 'unfinished' : null;
}

/** Of the simulator's own engines, only the delay of calls that a busy machine holds up is not known. */
function fitOf(scene: Scene): TrafficFit | 'not_fitted' | 'too_slow' | 'refused' {
  const { pool, counted, settings } = scene;
  const [preset, callsMax] = [baseOf(pool), Infinity];
  if (!pool.engines.every(({ engine }) => settings.embedded?.includes(engine) === true))
    return fitTraffic(preset, servedOf(pool), pool.nowMs) ?? 'not_fitted';
  const calls = pool.ended.filter(({ arrival, usage }) => usage !== undefined && counted.has(arrival.program));
  const callMs = calls.reduce((sum, { dispatchedMs, endedMs }) => sum + endedMs - dispatchedMs, 0) / calls.length;
  let outsideMs = 0;
  for (let round = 0; round < DELAY_ROUNDS; round += 1) {
    const now = simulate(scene, settings.policy.name, { preset, outsideMs, callsMax });
    if (typeof now === 'string') return now;
    outsideMs = Math.max(0, outsideMs + callMs - now.callMs);
  }
  return { preset, outsideMs, callsMax };
}

function baseOf({ engines }: Pool): Preset {
  const [first] = engines;
  const base = PRESETS[DEFAULT_PRESET];
  const kvTokens = engines.reduce((sum, { capacityTokens = 0 }) => sum + capacityTokens, 0) / engines.length;
  const maxModelLen = Math.min(first?.contextTokensMax ?? kvTokens, kvTokens);
  return { ...base, kvTokens, slots: first?.windowMax ?? base.slots, maxModelLen };
}

/** Times of programs, and the mean number of calls in a step; or why there are none. */
function simulate(scene: Scene, policy: PolicyName, fit: TrafficFit) {
  const { pool, counted, programs, settings, shouldStop } = scene;
  const firstCall = firstCallsOf(pool);
  const arrivalMs = new Map(programs.map(({ id, arrivalMs }) => [id, arrivalMs ?? 0]));
  const [firstMs = 0] = arrivalMs.values();
  const programMs = new Map<string, number>();
  let [refused, calls, callsMs] = [0, 0, 0];
  const { complete, engines } = runWorld({
    programs,
    arrivals: { type: 'trace', speed: 1 },
    seed: 1,
    engines: pool.engines.length,
    engine: { preset: fit.preset, blockSize: 16 },
    scheduler: () => makeSteps(policy, withLimits(settings, pool), makeBalancer(settings.balancer)),
    observer: {
      callEnded: ({ program, call, dispatchedMs, endedMs, outcome }) => {
        if (call >= (counted.get(program)?.calls ?? 0)) return;
        calls += 1;
        callsMs += endedMs - dispatchedMs;
        if (outcome !== 'completed') refused += 1;
        const ms = endedMs - ((arrivalMs.get(program) ?? 0) - firstMs);
        programMs.set(program, Math.max(ms, programMs.get(program) ?? 0));
      },
      programEnded: () => undefined,
    },
    outsideMs: fit.outsideMs,
    alone: false,
    familyOf: (program, thread) => firstCall(program, thread)?.family,
    objectiveOf: ({ id }, thread) => firstCall(id, thread)?.waitMsMax,
    shouldStop,
  });
  if (!complete) return 'too_slow';
  if (refused > 0) return 'refused';
  const total = (name: 'generatedTokens' | 'steps') => engines.reduce((sum, engine) => sum + engine[name], 0);
  // Each call in a step gets a token of it.
  const inStep = total('generatedTokens') / total('steps');
  return { msOf: (id: string) => programMs.get(id) ?? NaN, callMs: callsMs / calls, inStep };
}

/** Calls as the gateway saw them: the simulator would take all programs that found a common prefix cached for one family. */
function firstCallsOf({ ended, open }: Pool) {
  const keyOf = (program: string, thread: string) => `${program} ${thread}`;
  const seen = new Map<string, CallArrived>();
  for (const { arrival } of [...ended, ...open]) {
    const key = keyOf(arrival.program, arrival.thread);
    if (!seen.has(key)) seen.set(key, arrival);
  }
  return (program: string, thread: string): CallArrived | undefined => seen.get(keyOf(program, thread));
}

/** The simulator's engines do not tell their limits, so those that are known are set. */
function withLimits(settings: ShadowSettings, { engines }: Pool): ShadowSettings {
  const windowMax = engines[0]?.windowMax;
  if (settings.admission.window !== 'auto' || windowMax === undefined) return settings;
  return { ...settings, admission: { ...settings.admission, window: windowMax } };
}
