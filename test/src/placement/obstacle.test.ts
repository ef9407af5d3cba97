import { beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/engines/engine.js';
import { EngineTable } from '../../../src/engines/engine-table.js';
import { callId, modelId, programId, tenantId, tokens } from '../../../src/index.js';
import { joiningOf } from '../../../src/placement/joining.js';
import { pays } from '../../../src/placement/obstacle.js';
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
    for (const [index, turn] of running.entries()) if (index === 1 || !isBehind) accounts.began(turn);
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

it('a wait is compared with 16 first quanta of service at least: a new program does not outweigh a batch at once', () => {
  const serviceOf = (serviceMs: number) => joiningOf(callOf('t', serviceMs), loaded(), config, completionIndex, 0)?.serviceMs; // prettier-ignore
  expect([0, 1_999, 2_001].map(serviceOf)).toEqual([2_000, 2_000, 2_001]);
});

it('nobody is held back before enough programs have ended to tell them apart', () => {
  const learnt = (isLearnt: boolean) =>
    joiningOf(callOf('t', 0), loaded(), config, { ...completionIndex, isLearnt }, 0);
  expect(learnt(true)).toBeDefined();
  expect(learnt(false)).toBeUndefined();
});
