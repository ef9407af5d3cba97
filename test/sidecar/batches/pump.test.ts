import pino from 'pino';
import { expect, it } from 'vitest';
import { Pump } from '../../../sidecar/batches/pump.js';
import type { Work } from '../../../sidecar/batches/work.js';
import { tenantId } from '../../../src/index.js';
import { configOf } from '../gateway/world.js';

it.each([
  ['starts a line of a late batch although one in time has all places', [1], 1],
  ['starts no line past twice the places, as batches that were late before hold some', [1, 1], 0],
])('%s', async (_, held, started) => {
  const { batches: config } = configOf([], { batches: { inFlightMax: 1 } });
  const pump = new Pump({ config: () => config, engines: () => [], log: pino({ level: 'silent' }) });
  const add = (id: string, isLate: boolean, inFlight: number) => {
    const run = { inFlight, isReady: true, startNext: () => new Promise(() => (run.inFlight += 1)) };
    pump.works.set(id, { id, shelf: { tenant: tenantId(id) }, expiresAt: 0, isLate, run } as unknown as Work);
    return run;
  };
  for (const [at, lines] of held.entries()) add(`held${at}`, false, lines);
  const late = add('late', true, 0);
  pump.wake();
  await new Promise(setImmediate);
  expect(late.inFlight).toBe(started);
});
