import { expect, it } from 'vitest';
import { WaitCauses } from '../../../sidecar/watch/wait-causes.js';
import { callId, type WaitCause } from '../../../src/index.js';

it('adds up what a call waited for between looks, by its cause at each, and forgets it once told', () => {
  const causes = new WaitCauses();
  const look = (cause: WaitCause, waitingMs: number) =>
    causes.observe([[callId('a'), { cause, waitingMs: waitingMs as never }]]);
  look('kv', 3000);
  look('window', 5000);
  // As of a moment ago, or after an attempt that ended at once.
  look('kv', 5000);
  look('kv', 9000);
  expect([...causes.take(callId('a'))]).toEqual([
    ['kv', 7000],
    ['window', 2000],
  ]);
  expect(causes.take(callId('a')).size).toBe(0);
});
