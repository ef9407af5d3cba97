import { describe, expect, it } from 'vitest';
import { makeBalancer } from '../../../loadbalancer/index.js';
import { configSchema } from '../../../sidecar/config/index.js';
import { makeSteps, SIM_POLICIES, type SimPolicyName } from '../../../sim/policies/policies.js';
import type { AgentProgram } from '../../../workloads/program.js';
import { agentProgram, play, programOf, stepsOf, type PlayOptions } from '../../support/sim-play.js';

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
  function waitedMs(first: AgentProgram, isBelady: boolean): number {
    const config = configSchema.parse({});
    const scheduler = () => makeSteps('plas', config, makeBalancer(config.balancer), { isBelady });
    // An engine with nothing to do takes any call.
    const busy = programOf('busy', 0, [{ promptTokens: 100, outputTokens: 2_500 }]);
    const programs = [busy, first, programOf('second', 5_000, [call])];
    const { callRecords } = play(programs, { engines: 1, kvTokens: 10_000, scheduler });
    const { dispatchedMs, arrivedMs } = callRecords.find(({ program }) => program === 'second')!;
    return dispatchedMs - arrivedMs;
  }

  it('holds the context of a program that returns until it does, and no other', () => {
    const returning = programOf('first', 0, [call, { ...call, promptTokens: 6_020, gapMs: 20_000 }]);
    expect(waitedMs(returning, true)).toBeGreaterThan(10_000);
    expect(waitedMs(returning, false)).toBe(0);
    expect(waitedMs(programOf('first', 0, [call]), true)).toBe(0);
  });
});

describe('the policies that can be compared', () => {
  it.each([
    ['srpt', ['short 1', 'short 2', 'short 3', 'long']],
    ['srpt-promoted', ['long', 'short 1', 'short 2', 'short 3']],
  ] as const)('let waiting move calls, or not: %s', (policy, wanted) => {
    const call = { ...small, outputTokens: 300 };
    const programs = ['short 1', 'short 2', 'short 3'].map((id) => programOf(id, 2, [call]));
    const starvation = { beta: 1, floorMs: 3000, waitMsMax: 3500 };
    const settings = { ...NARROW, starvation };
    expect(order(policy, [programOf('long', 1, [{ ...call, outputTokens: 3000 }]), ...programs], settings)).toEqual(
      wanted,
    );
  });

  it('go by whole programs, by calls, or by arrival', () => {
    const programs = [
      programOf('long', 1, [{ ...small, outputTokens: 200 }]),
      programOf('four short calls', 2, [small, small, small, small]),
      programOf('middling', 3, [{ ...small, outputTokens: 25 }]),
    ];
    expect(order('srpt', programs)).toEqual(['middling', 'four short calls', 'long']);
    expect(order('sjf', programs)).toEqual(['four short calls', 'middling', 'long']);
    expect(order('fcfs-window', programs)).toEqual(['long', 'four short calls', 'middling']);
  });

  it.each([
    ['srpt', 'nearly done'],
    ['fcfs-window', 'new'],
  ] as const)('count of a program what is left of it, under %s: first comes "%s"', (policy, first) => {
    // While the second holds the place, the last call of the first comes, a little after a program of one call.
    const programs = [
      programOf('nearly done', 0, [
        { ...small, outputTokens: 300 },
        { ...small, gapMs: 2000 },
      ]),
      programOf('holds', 1, [{ ...small, outputTokens: 500 }]),
      programOf('new', 4000, [{ ...small, outputTokens: 100 }]),
    ];
    const { callRecords } = play(programs, { engines: 1, scheduler: stepsOf(policy, NARROW) });
    const last = callRecords.filter(({ program, call }) => program === 'new' || call === 1);
    expect(last.map(({ program }) => program)[0]).toBe(first);
  });
});

describe('bounds for learning', () => {
  const call = (outputTokens: number) => ({ promptTokens: 100, outputTokens });
  /** Of a program with 300 tokens behind it and a new one, the program that goes first, in a run with such others. */
  function first(policy: 'gittins' | 'mean-rest' | 'srpt', others: readonly number[]): string | undefined {
    const config = configSchema.parse(NARROW);
    const programs = [
      programOf('begun', 0, [call(300), { ...call(100), gapMs: 2000 }]),
      programOf('holds', 1, [call(500)]),
      programOf('new', 4000, [call(90)]),
      ...others.map((outputTokens, index) => programOf(`${index}`, 1e5 * (index + 1), [call(outputTokens)])),
    ];
    const { callRecords } = play(programs, {
      engines: 1,
      scheduler: (sizesMs) => makeSteps(policy, config, makeBalancer(config.balancer), { sizesMs }),
    });
    return callRecords.find(({ program, call: index }) => program === 'new' || index === 1)?.program;
  }

  it.each([
    // Others that got 300 tokens are about to end; have long to go; or, equally many, either.
    ['begun', 'begun', [310, 310, 310, 310, 310, 310, 310, 310]],
    ['new', 'new', [50, 50, 50, 3000, 3000, 3000, 3000, 3000, 3000, 3000, 3000]],
    ['begun', 'new', [50, 50, 50, 310, 310, 310, 310, 6000, 6000, 6000, 6000]],
  ])('go by the sizes of all programs: first comes %s by index, %s by mean rest', (byIndex, byRest, others) => {
    expect([first('gittins', others), first('mean-rest', others)]).toEqual([byIndex, byRest]);
    expect(first('srpt', others)).toBe('new');
  });
});

it('a scheduler that asks is told the sizes of the programs that are to run, and no others', () => {
  const programs = [30, 10, 20].map((outputTokens, index) =>
    programOf(`${index}`, index, [{ ...small, outputTokens }]),
  );
  let sizes: readonly number[] = [];
  const scheduler: PlayOptions['scheduler'] = (sizesMs) => {
    sizes = sizesMs();
    return stepsOf('plas');
  };
  const { callRecords } = play(programs.values(), { maxPrograms: 2, scheduler });
  expect(callRecords.map(({ program }) => program)).toEqual(['1', '0']);
  const aloneMs = callRecords.map(({ dispatchedMs, endedMs }) => endedMs - dispatchedMs);
  expect(sizes).toHaveLength(2);
  expect(sizes[1]! / sizes[0]!).toBeCloseTo(aloneMs[1]! / aloneMs[0]!, 0);
});

describe.each(SIM_POLICIES)('the policy %s', (policy) => {
  const crowd = Array.from({ length: 12 }, (_, index) => agentProgram(`p${index}`, index * 200, 5));

  it('leaves no call behind when it refuses some', () => {
    const settings = {
      limits: { queuedMax: 2, programsMax: 30 },
      admission: { reserveMs: 2000, turnMs: 1000 },
      starvation: { waitMsMax: 2000 },
      timeouts: { queueMs: 3000 },
    };
    const played = play(crowd, { scheduler: stepsOf(policy, settings), kvTokens: 8000, alone: false });
    const ended = Object.values(played.callOutcomes).reduce((sum, count) => sum + count, 0);
    expect(ended + played.callsCancelled).toBe(60);
    expect(played.programs).toBe(12);
    expect(Object.keys(played.callOutcomes)).not.toContain('no_engine');
  });
});
