import { readScheduling } from '../../../cli/sim/scheduling.js';
import { ShadowWindow, remembered } from '../../../lab/index.js';
import { makeBalancer } from '../../../loadbalancer/index.js';
import { PRESETS, makeSteps, runWorld, type Preset, type SimPolicyName } from '../../../sim/index.js';
import type { Command, Event, Millis } from '../../../src/index.js';
import { openWorkload, programs, type AgentProgram } from '../../../workloads/index.js';

export interface LiveOptions {
  readonly workload?: string;
  readonly ratePerSecond: number;
  readonly untilMs: number;
  readonly windowMs: number;
  readonly policy?: SimPolicyName;
  readonly engines?: number;
  readonly preset?: Preset;
  readonly seed?: number;
}

export const SETTINGS = readScheduling({}).config;
const CALLS_MAX = 100_000;

/** A gateway in virtual time, its window of steps at `untilMs`, and the true times of programs under any policy. */
export function live(options: LiveOptions) {
  const { workload = 'mixed', policy = 'plas', engines = 1, seed = 1, untilMs, windowMs, ratePerSecond } = options;
  const { preset = PRESETS['llama-3.1-8b-a100'] } = options;
  const window = new ShadowWindow({ windowMs, callsMax: CALLS_MAX }, 0);
  const ids: string[] = [];
  function* drawn(): Generator<AgentProgram> {
    for (const program of programs(openWorkload(workload), seed)) {
      ids.push(program.id);
      yield program;
    }
  }
  const run = (name: SimPolicyName, record: (event: Event, now: Millis, commands: readonly Command[]) => void) => {
    const times = new Map<string, number>();
    ids.length = 0;
    runWorld({
      programs: drawn(),
      maxPrograms: Math.ceil((ratePerSecond * untilMs * 1.2) / 1000),
      arrivals: { type: 'open', ratePerSecond, cv: 1 },
      seed,
      engines,
      engine: { preset, blockSize: 16, scheduling: 'fcfs' },
      scheduler: () => {
        const steps = makeSteps(name, SETTINGS, makeBalancer(SETTINGS.balancer));
        return {
          step: (event, now) => {
            const commands = steps.step(event, now);
            record(event, now, commands);
            return commands;
          },
        };
      },
      observer: { programEnded: ({ program, arrivedMs, endedMs }) => times.set(program, endedMs - arrivedMs) },
      alone: false,
    });
    return times;
  };
  let steps = 0;
  const own = run(policy, (event, now, commands) => {
    steps += 1;
    const step = now > untilMs ? undefined : remembered({ now, event, commands });
    if (step !== undefined) window.take(step);
  });
  return {
    window,
    steps,
    own,
    /** Times under another policy, by the workload's ids. */
    under: (name: SimPolicyName) => run(name, () => undefined),
    /** The workload's id of a program in the window, `p12@345`. */
    idOf: (logged: string) => ids[Number(/^p(\d+)@/.exec(logged)?.[1])] ?? '',
  };
}
