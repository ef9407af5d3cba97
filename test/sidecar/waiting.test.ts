import { expect, it } from 'vitest';
import { Waiting } from '../../sidecar/waiting.js';
import { Identified } from '../../sidecar/identified.js';
import { callId, type CallId, type WaitView } from '../../src/index.js';

it('reads why calls wait the less often, the longer it takes', () => {
  let nowMs = 0;
  const readings = { waits: 0, causes: 0 };
  const costs = { waits: 4, causes: 4 };
  const take = (what: 'waits' | 'causes') => {
    readings[what] += 1;
    nowMs += costs[what];
  };
  const calls: [CallId, WaitView][] = [[callId('c7'), {} as WaitView]];
  const views = {
    waits: () => (take('waits'), calls.values()),
    waitCauses: () => (take('causes'), {} as ReturnType<Waiting['causes']>),
  };
  const waiting = new Waiting({ views }, () => nowMs);
  const known: unknown[] = [];
  for (; nowMs < 4_000; nowMs += 1) known.push(waiting.of(callId('c7')));
  expect([readings.waits, known.includes(undefined), waiting.of(callId('other'))]).toEqual([10, false, undefined]);
  for (; nowMs < 8_000; nowMs += 1) waiting.causes();
  expect(readings.causes).toBe(10);
  costs.causes = 0.5;
  nowMs += 1000;
  for (let reading = 0; reading < 5; reading += 1) waiting.causes();
  expect(readings.causes).toBe(15);
});

it('remembers the sources of the last calls only', () => {
  const identified = new Identified();
  for (let call = 0; call < 1_000; call += 1) identified.note(call < 700 ? 'none' : 'history');
  expect(identified.counts()).toEqual([
    ['history', 300],
    ['none', 212],
  ]);
});
