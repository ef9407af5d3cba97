import type { WaitCause } from '../../src/index.js';
import type { Parts } from '../context.js';
import { isServing } from '../engines/index.js';
import type { Reading } from './steps.js';

/** Causes of waiting that end once engines have more room. */
export const ROOM_CAUSES: readonly WaitCause[] = ['kv', 'window', 'turn', 'knee'];

/** Waiting calls by cause, those for room that are no background calls (`crowd`), and use and room of the engines that take calls; a limit that one of them lacks is left out. */
export function readState({ config, driver, fleet }: Parts): Reading {
  const sums = { in_flight: 0, slots: 0, working_set_tokens: 0, gate_tokens: 0 };
  const { views } = driver;
  for (const member of fleet.list()) {
    const engine = views.engine(member.id);
    if (engine === undefined) continue;
    // Calls may hang on one that is down, or end on one that drains.
    sums.in_flight += engine.inFlight;
    if (!isServing(member)) continue;
    sums.slots += engine.window;
    sums.working_set_tokens += engine.workingSetTokens;
    sums.gate_tokens += config.admission.gate * (engine.capacityTokens ?? Infinity);
  }
  // Waits are learnt from even when nobody looks.
  driver.waits();
  const known = Object.entries(sums).filter(([, value]) => Number.isFinite(value));
  const { byCause, waiting, background } = driver.queue();
  const crowd = Math.min(
    waiting - background,
    ROOM_CAUSES.reduce((sum, cause) => sum + byCause[cause], 0),
  );
  return { ...byCause, crowd, ...Object.fromEntries(known) };
}
