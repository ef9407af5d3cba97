import type { ProgramView } from '../../src/index.js';
import type { Parts } from '../context.js';
import type { EndedPrograms, ProgramGroup, ProgramGroups } from './answers.js';
import { seconds } from './figures.js';
import { toldRow } from './program-rows.js';
import { activityOf, longestWaiting, type ProgramQuery } from './query.js';

/** Present programs in groups that have a name in common: who uses the gateway? */
export const groupsOf = ({ known }: Parts, rows: readonly ProgramView[], by: ProgramGroups['by']): ProgramGroup[] =>
  added(
    rows.map((row) => ({
      name: by === 'tenant' ? row.tenant : toldRow(known.of(row))[by],
      programs: 1,
      waiting: Number(activityOf(row) === 'waiting'),
      running: Number(activityOf(row) === 'running'),
      current_wait_seconds: seconds(onlineWaitMs(row)),
      attained_service_seconds: seconds(row.serviceMs),
      calls: row.callsTotal,
      prompt_tokens: row.promptTokens,
      output_tokens: row.outputTokens,
      queue_seconds: seconds(row.waitingMs),
      service_seconds: seconds(row.serviceMs),
    })),
  );

/** Nobody waits for background calls. */
function onlineWaitMs(row: ProgramView): number {
  const { waitingMs = 0, background = false } = longestWaiting(row) ?? {};
  return background ? 0 : waitingMs;
}

/** @param present the groups of each gateway @param gone the ended programs of all */
export function joinGroups(
  { limit, offset, matchesEnded }: ProgramQuery,
  by: ProgramGroups['by'],
  present: readonly (readonly ProgramGroup[])[],
  { programs: gone }: EndedPrograms,
): ProgramGroups {
  const ended = gone.filter(matchesEnded).map((row) => ({ ...row, name: row[by], ended: 1 }));
  const groups = added([...present.flat(), ...ended]);
  const since = gone.at(-1)?.ended_at ?? null;
  return { by, ended_since: since, groups: groups.slice(offset, offset + limit), total: groups.length, limit, offset };
}

const NOTHING = {
  programs: 0,
  waiting: 0,
  running: 0,
  attained_service_seconds: 0,
  ended: 0,
  calls: 0,
  prompt_tokens: 0,
  output_tokens: 0,
  queue_seconds: 0,
  service_seconds: 0,
};
const SUMS = Object.keys(NOTHING) as (keyof typeof NOTHING)[];

/** Each name once, the one with the most engine time first. */
function added(all: readonly (Partial<ProgramGroup> & Pick<ProgramGroup, 'name'>)[]): ProgramGroup[] {
  const groups = new Map<string | null, { -readonly [field in keyof ProgramGroup]: ProgramGroup[field] }>();
  for (const one of all) {
    const sum = groups.get(one.name) ?? { name: one.name, current_wait_seconds: 0, ...NOTHING };
    groups.set(one.name, sum);
    for (const field of SUMS) sum[field] += one[field] ?? 0;
    sum.current_wait_seconds = Math.max(sum.current_wait_seconds, one.current_wait_seconds ?? 0);
  }
  for (const sum of groups.values()) for (const field of SUMS) sum[field] = seconds(1000 * sum[field]);
  return [...groups.values()].sort((a, b) => b.service_seconds - a.service_seconds || b.calls - a.calls);
}
