import { describe, expect, it } from 'vitest';
import { makeBalancer } from '../../../loadbalancer/index.js';
import { configSchema } from '../../../sidecar/config/index.js';
import { makeSteps, SIM_POLICIES, type SimPolicyName, type SimRetentionName } from '../../../sim/policies/policies.js';
import type { AgentProgram } from '../../../workloads/program.js';
import { agentProgram, play, programOf, stepsOf } from '../../support/sim-play.js';

const small = { promptTokens: 100, outputTokens: 10 };
/** Room for one call at a time, and nobody moved to the front. */
const NARROW = {
  admission: { window: 1, gate: 0 },
  starvation: { beta: 1e6, waitMsMax: 8e7 },
  timeouts: { queueMs: 8.1e7 },
};

/** The order in which programs that come while a first one holds the only place get it. */
function order(policy: SimPolicyName, programs: readonly AgentProgram[], settings: object = NARROW): string[] {
  const first = programOf('first', 0, [{ promptTokens: 100, outputTokens: 300 }]);
  const { callRecords } = play([first, ...programs], { engines: 1, scheduler: stepsOf(policy, settings) });
  const firsts = callRecords.filter(({ call, program }) => call === 0 && program !== 'first');
  return firsts.sort((a, b) => a.dispatchedMs - b.dispatchedMs).map(({ program }) => program);
}

describe('clairvoyant retention', () => {
  const call = { promptTokens: 6_000, outputTokens: 10 };
  /** How long a second program waits whose context does not fit beside the first's. */
  function waitedMs(first: AgentProgram, retention?: SimRetentionName): number {
    const config = configSchema.parse({});
    const scheduler = () => makeSteps('plas', config, makeBalancer(config.balancer), retention);
    // An engine with nothing to do takes any call.
    const busy = programOf('busy', 0, [{ promptTokens: 100, outputTokens: 2_500 }]);
    const programs = [busy, first, programOf('second', 5_000, [call])];
    const { callRecords } = play(programs, { engines: 1, kvTokens: 10_000, scheduler });
    const { dispatchedMs, arrivedMs } = callRecords.find(({ program }) => program === 'second')!;
    return dispatchedMs - arrivedMs;
  }

  it('holds the context of a program that returns until it does, and no other', () => {
    const returning = programOf('first', 0, [call, { ...call, promptTokens: 6_020, gapMs: 20_000 }]);
    expect(waitedMs(returning, 'belady')).toBeGreaterThan(10_000);
    expect(waitedMs(returning)).toBe(0);
    expect(waitedMs(programOf('first', 0, [call]), 'belady')).toBe(0);
  });
});

describe('the policies that can be compared', () => {
  it('go by whole programs, or by arrival', () => {
    const programs = [
      programOf('long', 1, [{ ...small, outputTokens: 200 }]),
      programOf('four short calls', 2, [small, small, small, small]),
      programOf('middling', 3, [{ ...small, outputTokens: 25 }]),
    ];
    expect(order('srpt', programs)).toEqual(['middling', 'four short calls', 'long']);
    expect(order('fcfs-window', programs)).toEqual(['long', 'four short calls', 'middling']);
  });

  it.each([
    ['srpt', 'nearly done'],
    ['fcfs-window', 'new'],
  ] as const)('count of a program what is left of it, under %s: first comes "%s"', (policy, first) => {
    // While the second holds the place, the last call of the first comes, a little after a program of one call.
    const nearlyDone = [
      { ...small, outputTokens: 300 },
      { ...small, gapMs: 2000 },
    ];
    const programs = [
      programOf('nearly done', 0, nearlyDone),
      programOf('holds', 1, [{ ...small, outputTokens: 500 }]),
      programOf('new', 4000, [{ ...small, outputTokens: 100 }]),
    ];
    const { callRecords } = play(programs, { engines: 1, scheduler: stepsOf(policy, NARROW) });
    const last = callRecords.filter(({ program, call }) => program === 'new' || call === 1);
    expect(last.map(({ program }) => program)[0]).toBe(first);
  });
});

describe.each(SIM_POLICIES)('the policy %s', (policy) => {
  const crowd = Array.from({ length: 12 }, (_, index) => agentProgram(`p${index}`, index * 200, 5));

  it('leaves no call behind when it refuses some', () => {
    const times = { admission: { reserveMs: 2000, turnMs: 1000 }, starvation: { waitMsMax: 2000 } };
    const settings = { limits: { queuedMax: 2, programsMax: 30 }, timeouts: { queueMs: 3000 }, ...times };
    const played = play(crowd, { scheduler: stepsOf(policy, settings), kvTokens: 8000, alone: false });
    const ended = Object.values(played.callOutcomes).reduce((sum, count) => sum + count, 0);
    const cancelled = played.programRecords.reduce((sum, { callsCancelled }) => sum + callsCancelled, 0);
    expect(ended + cancelled).toBe(60);
    expect(played.programRecords).toHaveLength(12);
    expect(Object.keys(played.callOutcomes)).not.toContain('no_engine');
  });
});
