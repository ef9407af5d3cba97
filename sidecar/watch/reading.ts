import type { Context } from '../context.js';
import type { Reading } from './steps.js';

/** Waiting calls by cause, and the room of all engines together; a limit that one engine lacks is left out. */
export function readState({ config, driver, fleet }: Pick<Context, 'config' | 'driver' | 'fleet'>): Reading {
  const sums = { in_flight: 0, slots: 0, working_set_tokens: 0, gate_tokens: 0 };
  const { views } = driver;
  for (const { id } of fleet.list()) {
    const engine = views.engine(id);
    if (engine === undefined) continue;
    sums.in_flight += engine.inFlight;
    sums.slots += engine.window;
    sums.working_set_tokens += engine.workingSetTokens;
    sums.gate_tokens += config.admission.gate * (engine.capacityTokens ?? Infinity);
  }
  const known = Object.entries(sums).filter(([, value]) => Number.isFinite(value));
  return { ...driver.queue().byCause, ...Object.fromEntries(known) };
}
