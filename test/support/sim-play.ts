import { makeBalancer } from '../../loadbalancer/index.js';
import { configSchema } from '../../sidecar/config/index.js';
import { PRESETS } from '../../sim/index.js';
import type { CallRecord, ProgramRecord, Steps, WorldOptions } from '../../sim/virtual/options.js';
import type { AgentCall, AgentProgram } from '../../workloads/program.js';
import { makeSteps, type SimPolicyName } from '../../sim/policies/policies.js';
import { runWorld, type WorldResult } from '../../sim/virtual/world.js';
import type { Command, Event, Millis } from '../../src/index.js';

export const PRESET = PRESETS['llama-3.1-8b-a100'];

export interface Played extends WorldResult {
  readonly programRecords: readonly ProgramRecord[];
  readonly callRecords: readonly CallRecord[];
}

export type PlayOptions = Partial<Omit<WorldOptions, 'scheduler'>> & {
  readonly policy?: SimPolicyName;
  readonly kvTokens?: number;
  /** Replaces the policy's scheduler; a function makes a new one at each restart of the gateway. */
  readonly scheduler?: Steps | WorldOptions['scheduler'];
};

/** The policy with the gateway's defaults, and these settings over them. */
export function stepsOf(name: SimPolicyName = 'plas', settings: object = {}): Steps {
  const config = configSchema.parse(settings);
  return makeSteps(name, config, makeBalancer(config.balancer));
}

/** Runs programs through two engines, those of traces at their own times. Returns every record. */
export function play(
  programs: Iterable<AgentProgram>,
  { policy, kvTokens = PRESET.kvTokens, scheduler = () => stepsOf(policy), ...given }: PlayOptions = {},
): Played {
  const programRecords: ProgramRecord[] = [];
  const callRecords: CallRecord[] = [];
  const result = runWorld({
    programs,
    arrivals: { type: 'trace', speed: 1 },
    seed: 1,
    engines: 2,
    engine: { preset: { ...PRESET, kvTokens }, blockSize: 16 },
    scheduler: typeof scheduler === 'function' ? scheduler : () => scheduler,
    observer: {
      callEnded: (record) => void callRecords.push(record),
      programEnded: (record) => void programRecords.push(record),
    },
    ...given,
  });
  return { ...result, programRecords, callRecords };
}

export type CallFacts = Partial<AgentCall> & Pick<AgentCall, 'promptTokens' | 'outputTokens'>;

/** A program of these calls, in sequence unless they say otherwise. */
export function programOf(id: string, arrivalMs: number, calls: readonly CallFacts[]): AgentProgram {
  return {
    id,
    arrivalMs,
    calls: calls.map((call, index) => ({ after: index === 0 ? [] : [index - 1], gapMs: 0, thread: '', ...call })),
  };
}

/** Turns that each continue the whole conversation before, with half a second of tools between them. */
export function agentProgram(id: string, arrivalMs: number, turns = 10): AgentProgram {
  const calls = Array.from({ length: turns }, (_, turn) => ({
    promptTokens: 4000 + turn * 400,
    outputTokens: 100,
    gapMs: turn === 0 ? 0 : 500,
    prefix: turn === 0 ? { name: 'system', tokens: 512 } : { call: turn - 1, tokens: 4000 + (turn - 1) * 400 + 100 },
  }));
  return programOf(id, arrivalMs, calls);
}

/** Records everything that the steps receive and return, with its time. */
export function recorded(steps: Steps): { readonly steps: Steps; readonly log: Step[] } {
  const log: Step[] = [];
  const step = (event: Event, now: Millis): Command[] => {
    const commands = steps.step(event, now);
    log.push({ event, now, commands });
    return commands;
  };
  return { steps: { ...steps, step }, log };
}

export interface Step {
  readonly event: Event;
  readonly now: number;
  readonly commands: readonly Command[];
}
