import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/engines/engine.js';
import { EngineTable } from '../../../src/engines/engine-table.js';
import { ADMISSION_NAMES, callId, modelId, programId, tenantId, tokens } from '../../../src/index.js';
import { pays } from '../../../src/placement/knee.js';
import { Accounts } from '../../../src/programs/accounts.js';
import { Call } from '../../../src/programs/call.js';
import { Program } from '../../../src/programs/process-table.js';
import { balancerNamed } from '../../support/core-desk.js';
import { coreConfig } from '../../support/core-config.js';
import { joined, shared } from '../../support/core-events.js';

const config = coreConfig({ admission: { batching: 'knee' }, policy: { tenants: 'weighted', firstQuantumMs: 125 } });
const completionIndex = { isLearnt: true };

function callOf(tenant: string, serviceMs: number, promptTokens = 10_000): Call {
  const program = new Program(programId(`${tenant}/p`), tenantId(tenant), 0);
  program.serviceMs = serviceMs;
  const facts = { thread: '', model: modelId('m'), promptTokens: tokens(promptTokens) };
  const ids = { call: callId('c'), program: program.id, tenant: program.tenant };
  const call = new Call({ type: 'callArrived', ...ids, ...facts }, 0, program, 0, 0);
  // As much is expected as was had.
  call.restMs = serviceMs;
  return call;
}

/** An engine past its knee: ten calls of small programs run. */
function loaded(capacity?: number, host = {}): Engine {
  const engine = new EngineTable().join(
    joined('A', { ...(capacity !== undefined && { capacity }), ...host }),
    config.admission,
  );
  for (let seen = 0; seen < 100; seen += 1)
    engine.stepTime.observe(20 + 1e-3 * (1_000 + seen * 100), 1_000 + seen * 100);
  for (let running = 0; running < 10; running += 1) {
    const call = callOf('other', 0);
    engine.running.add(call);
    engine.batch.add(call, 0);
  }
  return engine;
}

describe('past the knee', () => {
  let accounts: Accounts;
  const paysFor = (call: Call, engine = loaded()): boolean => {
    const rules = { config, balancer: balancerNamed('sticky'), policy: { admits: true, weighs: true } };
    return pays(call, engine, { rules, completionIndex, accounts }, 0);
  };

  beforeEach(() => {
    accounts = new Accounts(config);
    accounts.at(0);
  });

  /** A call of a large program, whose tenant has had its share or not. */
  function large(isBehind = false): Call {
    const call = callOf('own', 100_000);
    call.turn = accounts.turnOf(call);
    const running = [call, callOf('other', 0)].map((each) => accounts.turnOf(each));
    for (const [index, turn] of running.entries()) if (index === 1 || !isBehind) accounts.runs(turn, 1);
    call.turn.waits(1, false);
    accounts.at(10_000);
    return call;
  }

  it('the call of a large program is held', () => {
    expect(paysFor(large())).toBe(false);
  });

  it.each(['promoted', 'isAged'] as const)('but not once it is %s', (state) => {
    const call = large();
    call[state] = true;
    expect(paysFor(call)).toBe(true);
  });

  it.each([
    [0.79, {}, false],
    [0.81, {}, true],
    [0.79, { host: 400_000, hostSpeed: 1e6 }, false],
    [0.81, { host: 400_000, hostSpeed: 1e6 }, true],
  ])('nor where %s of the gate is taken, by claims as well; host memory %j adds none (%s)', (share, host, runs) => {
    const engine = loaded(100_000, host);
    engine.share(shared('A', { claimTokens: tokens(share * config.admission.gate * 100_000) }), 0);
    expect(paysFor(large(), engine)).toBe(runs);
  });

  it('nor where its tenant is behind its share', () => {
    expect(paysFor(large(true))).toBe(true);
  });
});

/** A call that has a slot and room, and the batch that it would join. */
interface Joining {
  readonly restMs: number;
  readonly serviceMs: number;
  readonly waitedMs: number;
  readonly promptTokens: number;
  readonly batchWeight: number;
  readonly batchTokens: number;
  readonly emptyMs: number;
  readonly msPerToken: number;
  readonly takenShare: number;
}

function joins(
  joining: Joining,
  { batching = 'knee', isLearnt = true }: { batching?: 'knee' | 'none'; isLearnt?: boolean } = {},
) {
  const { restMs, serviceMs, waitedMs, promptTokens, batchWeight, batchTokens, emptyMs, msPerToken, takenShare } =
    joining;
  const call = callOf('t', serviceMs, promptTokens);
  const accounts = new Accounts(config);
  Object.assign(call, { restMs, waitedMs, turn: accounts.turnOf(call) });
  const batch = { loadTokens: batchTokens, weight: batchWeight };
  const engine = { inFlightAnywhere: 1, batch, stepTime: { emptyMs, msPerToken }, takenShare: () => takenShare };
  const rules = {
    config: coreConfig({ admission: { batching }, policy: { firstQuantumMs: 125 } }),
    balancer: balancerNamed('sticky'),
    policy: { admits: true, weighs: true },
  };
  return pays(call, engine as unknown as Engine, { rules, completionIndex: { isLearnt }, accounts }, 0);
}

const positive = (max: number) => fc.double({ min: 1e-6, max, noNaN: true });

/** Any call in front of any batch. */
const anyJoining: fc.Arbitrary<Joining> = fc.record({
  restMs: fc.double({ min: 1, max: 1e6, noNaN: true }),
  serviceMs: fc.double({ min: 1, max: 1e7, noNaN: true }),
  waitedMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
  promptTokens: fc.integer({ min: 1, max: 200_000 }),
  batchWeight: positive(100),
  batchTokens: fc.integer({ min: 1, max: 1_000_000 }),
  emptyMs: positive(1_000),
  msPerToken: fc.double({ min: 0, max: 0.1, noNaN: true }),
  takenShare: fc.double({ min: 0, max: 1, noNaN: true }),
});

describe.each(ADMISSION_NAMES)('batching %s', (batching) => {
  const runs = (call: Joining) => joins(call, { batching });

  it('lets every call into an empty batch that it does not slow down', () => {
    const property = fc.property(anyJoining, (call) => runs({ ...call, batchWeight: 0, batchTokens: 0 }));
    fc.assert(property, { seed: 1, numRuns: 500 });
  });

  it('lets a call in after a longer wait that it let in before', () => {
    const later = (call: Joining, moreMs: number) => runs({ ...call, waitedMs: call.waitedMs + moreMs });
    const property = fc.property(anyJoining, positive(1e9), (call, moreMs) => !runs(call) || later(call, moreMs));
    fc.assert(property, { seed: 2, numRuns: 500 });
  });

  it('holds no call for ever', () => {
    const property = fc.property(anyJoining, (call) => runs({ ...call, waitedMs: 1e15 }));
    fc.assert(property, { seed: 3, numRuns: 500 });
  });

  it('never holds calls that are alike, however many there are', () => {
    const alike = fc.tuple(anyJoining, fc.integer({ min: 1, max: 1_000 })).map(([call, calls]) => ({
      ...call,
      batchWeight: calls / call.restMs,
      batchTokens: calls * (call.promptTokens + 128),
    }));
    fc.assert(fc.property(alike, runs), { seed: 4, numRuns: 500 });
  });
});

describe('the engine’s knee', () => {
  /** A long program's call in front of a batch of fifty short ones. */
  const long: Joining = {
    restMs: 100_000,
    serviceMs: 100_000,
    waitedMs: 0,
    promptTokens: 4_872,
    batchWeight: 50 / 2_000,
    batchTokens: 400_000,
    emptyMs: 10,
    msPerToken: 1e-4,
    takenShare: 0.8,
  };

  it('holds a long program’s call that would slow short ones', () => {
    expect(joins(long)).toBe(false);
  });

  it.each<[string, Partial<Joining>]>([
    ['below the knee', { batchTokens: 200_000 }],
    ['of a short program', { restMs: 2_000, serviceMs: 2_000 }],
    ['that has waited twice as long as its program has run', { waitedMs: 200_000 }],
    ['where the cache is scarcer than the step', { takenShare: 0.81 }],
  ])('lets a call in %s', (_, change) => {
    expect(joins({ ...long, ...change })).toBe(true);
  });

  it('is not asked with `batching: none`, nor before enough programs have ended to tell them apart', () => {
    expect(joins(long, { batching: 'none' })).toBe(true);
    expect(joins(long, { isLearnt: false })).toBe(true);
  });

  it('compares a wait with 16 first quanta of service at least: a new program does not outweigh a batch at once', () => {
    const waitedMs = 4_000;
    const runs = (serviceMs: number) => joins({ ...long, serviceMs, waitedMs, restMs: 165_000 });
    expect([0, 1_999, 2_000, 2_100].map(runs)).toEqual([true, true, true, false]);
    expect([0, 1_999].map((serviceMs) => joins({ ...long, serviceMs, waitedMs: 3_800, restMs: 165_000 }))).toEqual([
      false,
      false,
    ]);
  });
});
