import { expect, it } from 'vitest';
import { Waiting } from '../../sidecar/waiting.js';
import { Identified } from '../../sidecar/identified.js';
import { callId, type CallId, type WaitView } from '../../src/index.js';

it('reads why calls wait the less often, the longer it takes', () => {
  let nowMs = 0;
  let readings = 0;
  const calls: [CallId, WaitView][] = [[callId('c7'), {} as WaitView]];
  const waits = () => {
    readings += 1;
    nowMs += 4;
    return calls.values();
  };
  const waiting = new Waiting({ views: { waits } }, () => nowMs);
  for (; nowMs < 4_000; nowMs += 1) expect(waiting.of(callId('c7'))).toBeDefined();
  expect(readings).toBe(10);
  expect(waiting.of(callId('other'))).toBeUndefined();
});

it('remembers the sources of the last calls only', () => {
  const identified = new Identified();
  for (let call = 0; call < 1_000; call += 1) identified.note(call < 700 ? 'none' : 'history');
  expect(identified.counts()).toEqual([
    ['history', 300],
    ['none', 212],
  ]);
});
