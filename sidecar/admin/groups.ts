import type { ProgramView } from '../../src/index.js';
import type { Parts } from '../context.js';
import type { ProgramGroup, ProgramGroups } from './answers.js';
import { seconds } from './figures.js';
import { toldRow } from './program-rows.js';
import { currentWaitMs, programState, type ProgramQuery } from './query.js';

/** Programs in groups that have a name in common: who uses the gateway? */
export const groupsOf = ({ known }: Parts, rows: readonly ProgramView[], by: ProgramGroups['by']): ProgramGroup[] =>
  added(
    rows.map((row) => ({
      name: by === 'tenant' ? row.tenant : toldRow(known.of(row.id))[by],
      programs: 1,
      waiting: Number(programState(row) === 'waiting'),
      running: Number(programState(row) === 'running'),
      // Nobody waits for background calls.
      current_wait_seconds: seconds(Math.max(0, currentWaitMs(row))),
      attained_service_seconds: seconds(row.serviceMs),
    })),
  );

/** @param all the groups of each gateway */
export function joinGroups(
  { limit, offset }: ProgramQuery,
  by: ProgramGroups['by'],
  all: readonly (readonly ProgramGroup[])[],
): ProgramGroups {
  const groups = added(all.flat());
  return { by, groups: groups.slice(offset, offset + limit), total: groups.length, limit, offset };
}

/** Each name once, the one with the most engine time first. */
function added(all: readonly ProgramGroup[]): ProgramGroup[] {
  const sums = new Map<string | null, ProgramGroup>();
  for (const one of all) {
    const sum = sums.get(one.name);
    sums.set(
      one.name,
      sum === undefined
        ? one
        : {
            name: one.name,
            programs: sum.programs + one.programs,
            waiting: sum.waiting + one.waiting,
            running: sum.running + one.running,
            current_wait_seconds: Math.max(sum.current_wait_seconds, one.current_wait_seconds),
            attained_service_seconds: seconds(1000 * (sum.attained_service_seconds + one.attained_service_seconds)),
          },
    );
  }
  return [...sums.values()].sort((a, b) => b.attained_service_seconds - a.attained_service_seconds || b.programs - a.programs); // prettier-ignore
}
