import { expect, it } from 'vitest';
import { Call } from '../../../src/programs/call.js';
import { Program } from '../../../src/programs/process-table.js';
import { millis, programId, tenantId } from '../../../src/index.js';
import { arrived } from '../../support/core-events.js';

const running = (): Call => {
  const call = new Call(arrived('c'), 0, new Program(programId('p'), tenantId('t'), 0), 256, 0);
  call.sent(millis(10));
  return call;
};

it('the first token of an attempt is the first that came', () => {
  const call = running();
  expect([call.started(20), call.started(30), call.startedAtMs]).toEqual([true, false, 20]);
  call.sent(40);
  expect([call.started(50), call.startedAtMs]).toEqual([true, 50]);
});

it('output never shrinks within an attempt, whatever the engine says', () => {
  const call = running();
  call.progressed(9);
  call.progressed(4);
  expect(call.outputTokens).toBe(9);
  call.sent(40);
  expect(call.outputTokens).toBe(0);
});
