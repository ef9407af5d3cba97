import { estimate, type ShadowSettings } from '../../../cli/shadow/estimate.js';
import { SeenCalls, type LIMITS, type Seen } from '../../../cli/shadow/seen-calls.js';
import { readScheduling } from '../../../cli/sim/scheduling.js';
import { makeBalancer } from '../../../loadbalancer/index.js';
import { PRESETS, makeSteps, runWorld, type Preset } from '../../../sim/index.js';
import type { LogStep, PolicyName } from '../../../src/index.js';
import { inChain, type AgentProgram } from '../../../workloads/index.js';

/** @param window calls at a time: so few that the order matters */
export const settingsOf = (window: number) => readScheduling(undefined, { window: String(window) }).config;
const SETTINGS = settingsOf(12);
/** None of the presets: a batch is of little use on it. */
const PRESET: Preset = { ...PRESETS['llama-3.1-8b-a100'], sequenceOverheadMs: 10 };

/** Long agents from the start on, and short ones that keep coming. */
export function twoKinds(long: number, short: number): AgentProgram[] {
  const chain = (id: string, arrivalMs: number, calls: number, first: number, outputTokens: number, gapMs: number) => {
    const promptOf = (index: number) => first + index * (outputTokens + 300);
    const all = Array.from({ length: calls }, (_, index) => ({
      gapMs: index === 0 ? 0 : gapMs,
      promptTokens: promptOf(index),
      outputTokens: outputTokens + 5 * (index % 7),
      ...(index > 0 && { prefix: { call: index - 1, tokens: promptOf(index - 1) + outputTokens } }),
    }));
    return { id, arrivalMs, calls: inChain(all) };
  };
  return [
    ...Array.from({ length: long }, (_, at) => chain(`long-${at}`, 6000 * at, 25, 4000 + 200 * at, 100, 50)),
    ...Array.from({ length: short }, (_, at) => chain(`short-${at}`, 1000 + 2000 * at, 2, 700 + 10 * at, 40, 800)),
  ].toSorted((a, b) => a.arrivalMs - b.arrivalMs);
}

/** The steps of a gateway in virtual time, and the true time of each program by its index. */
export function live(
  programs: readonly AgentProgram[],
  policy: PolicyName,
  settings: ShadowSettings = SETTINGS,
  preset = PRESET,
  outsideMs = 0,
) {
  const steps: LogStep[] = [];
  const programMs = new Map<string, number>();
  runWorld({
    programs,
    arrivals: { type: 'trace', speed: 1 },
    seed: 1,
    engines: 1,
    engine: { preset, blockSize: 16 },
    outsideMs,
    scheduler: () => {
      const inner = makeSteps(policy, settings, makeBalancer(settings.balancer));
      return {
        step: (event, now) => {
          const commands = inner.step(event, now);
          steps.push({ now, event, commands });
          return commands;
        },
      };
    },
    observer: { programEnded: ({ program, arrivedMs, endedMs }) => programMs.set(program, endedMs - arrivedMs) },
    alone: false,
  });
  return { steps, programMs };
}

/** The calls that these steps tell of, as the gateway has them at the last one. */
export function seenOf(steps: readonly LogStep[], limits: Partial<typeof LIMITS> = {}): Seen {
  const calls = new SeenCalls(0, 1e5, { windowMs: 1e9, callsMax: 1e6, ...limits });
  for (const { event, now, commands } of steps) calls.step(event, now, commands);
  return calls.seen(steps.at(-1)?.now ?? 0);
}

/** The estimate at the last of these steps. */
export function estimateOf(
  steps: readonly LogStep[],
  policy: Partial<typeof SETTINGS.policy> = {},
  own: ShadowSettings = SETTINGS,
) {
  return estimate(seenOf(steps), { ...own, policy: { ...own.policy, ...policy } }, () => false);
}
