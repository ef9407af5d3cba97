import { expect, it } from 'vitest';
import { callId, modelId, programId, tenantId, tokens } from '../../../src/index.js';
import { WorkingSet } from '../../../src/kv/working-set.js';
import { HORIZON_STEPS } from '../../../src/policies/idle-steps.js';
import { Call } from '../../../src/programs/call.js';
import { Program } from '../../../src/programs/process-table.js';

const STEP_MS = 1_000;

/** A cache whose idle contexts have a claim of this share at each age, and the ages at which they were used again. */
function heldSet(share: (age: number) => number = () => 1) {
  const ages: (number | undefined)[] = [];
  const set = new WorkingSet({
    classOf: () => 0,
    share: (_kind, age) => share(age),
    learn: (_kind, age) => void ages.push(age),
  });
  set.contents.capacityTokens = 10_000;
  let seq = 0;
  const call = (program: Program, promptTokens: number): Call => {
    const { id, tenant } = program;
    const facts = { program: id, tenant, thread: '', model: modelId('m'), promptTokens: tokens(promptTokens) };
    const made = new Call({ type: 'callArrived', call: callId(`c${seq}`), ...facts }, seq++, program, 0, 0);
    made.countedTokens = promptTokens;
    return made;
  };
  /** A call of a new program comes and goes in this step. */
  const leave = (step: number, promptTokens: number): Program => {
    const program = new Program(programId(`p${seq}`), tenantId('t'), 0);
    set.settle(step * STEP_MS, 16 * STEP_MS, 100);
    const made = call(program, promptTokens);
    set.enter(made, Infinity);
    set.leave(made, { contextTokens: promptTokens, cachedTokens: 0, sharedTokens: 0, forecastTokens: 0 });
    return program;
  };
  return { set, ages, call, leave };
}

it('the longest idle gives up its claim first, and no more do than must', () => {
  const { set, leave } = heldSet();
  leave(0, 300);
  leave(1, 200);
  leave(2, 100);
  expect(set.workingSetTokens).toBe(600);
  set.reclaim(550);
  expect(set.workingSetTokens).toBe(300);
  set.reclaim(150);
  expect(set.workingSetTokens).toBe(100);
});

it('of contexts that fell idle in one step the first does, and each gives up once', () => {
  const { set, leave } = heldSet();
  for (const size of [30, 20, 10]) leave(0, size);
  for (const left of [30, 10, 0]) {
    set.reclaim(set.workingSetTokens - 1);
    expect(set.workingSetTokens).toBe(left);
  }
});

it('a context that was warmed tells nothing of how long its program stays away', () => {
  const { set, ages, leave } = heldSet();
  const left = leave(0, 100);
  set.settle(3 * STEP_MS, 16 * STEP_MS, 100);
  set.expectReturn(left, '');
  expect(ages).toEqual([3]);
  const warmed = new Program(programId('warmed'), tenantId('t'), 0);
  const grown = { sharedTokens: 0, forecastTokens: 0, family: undefined };
  set.adopt({ program: warmed, thread: '', ...grown }, 100);
  set.settle(5 * STEP_MS, 16 * STEP_MS, 100);
  set.expectReturn(warmed, '');
  expect(ages).toEqual([3]);
});

it('a program that moves to another gateway leaves no context, and has returned', () => {
  const { set, ages, leave } = heldSet();
  const left = leave(0, 100);
  set.settle(3 * STEP_MS, 16 * STEP_MS, 100);
  expect(set.handOver(left)).toHaveLength(1);
  expect(ages).toEqual([3]);
  expect([set.contents.tokens, set.workingSetTokens]).toEqual([0, 0]);
  expect(set.handOver(left)).toEqual([]);
});

it('the longest idle give way to the contexts that other gateways use', () => {
  const { set, leave } = heldSet();
  leave(0, 300);
  leave(1, 200);
  set.share({ activeTokens: 400, claimTokens: 0, cachedTokens: 0 });
  set.reclaim(800);
  expect(set.workingSetTokens).toBe(200);
});

it.each([5_000, 9_900])(
  'a call of %i tokens that left nothing gives back no claim to a thread that has gone on',
  (size) => {
    const { set, call, leave } = heldSet();
    const program = leave(0, 300);
    const large = call(new Program(programId('large'), tenantId('t'), 0), size);
    set.enter(large, size);
    set.enter(call(program, 400), Infinity);
    set.leave(large, 'nothing');
    expect([set.contents.tokens, set.workingSetTokens]).toEqual([400, 400]);
  },
);

it('a claim that has faded to nothing does not come back', () => {
  const { set, leave } = heldSet((age) => (age === 1 ? 0 : 1));
  leave(0, 100);
  const claims = [0, 1, 2].map((step) => {
    set.settle(step * STEP_MS, 16 * STEP_MS, 100);
    return set.workingSetTokens;
  });
  expect(claims).toEqual([100, 0, 0]);
});

it('a context idle beyond the horizon has no claim and did not return, however the steps change', () => {
  for (const [atMs, halfLifeSteps] of [
    [HORIZON_STEPS * STEP_MS, 16],
    [6 * STEP_MS, 160],
  ] as const) {
    const { set, ages, leave } = heldSet();
    leave(5, 100);
    set.settle(5 * STEP_MS + atMs, halfLifeSteps * STEP_MS, 100);
    expect([set.workingSetTokens, ages]).toEqual([0, [undefined]]);
  }
});
