import type { WaitCause } from '../../src/index.js';
import { ENDED_MAX } from '../watch/known-programs.js';
import type { EndedPrograms, Program, ProgramPage, Queue } from './answers.js';
import { STATES, waitRank, type ProgramQuery } from './query.js';

/* The answers of several gateways as one. */

export const joinQueues = (all: readonly [Queue, ...Queue[]]): Queue =>
  all.reduce((sum, each) => ({
    waiting: sum.waiting + each.waiting,
    background: sum.background + each.background,
    limit: sum.limit + each.limit,
    longest_wait_seconds: Math.max(sum.longest_wait_seconds, each.longest_wait_seconds),
    waiting_for: Object.fromEntries(
      Object.entries(sum.waiting_for).map(([cause, calls]) => [cause, calls + each.waiting_for[cause as WaitCause]]),
    ) as Queue['waiting_for'],
  }));

/** @param all pages from the first row on, in the same order; a program with calls at several gateways is on several */
export function joinPages({ limit, offset, sort }: ProgramQuery, all: readonly ProgramPage[]): ProgramPage {
  const rows = new Map<string, Program>();
  for (const row of all.flatMap(({ programs }) => programs)) {
    const known = rows.get(row.key);
    if (known === undefined || known.current_wait_seconds < row.current_wait_seconds) rows.set(row.key, row);
  }
  const twice = all.reduce((sum, { programs }) => sum + programs.length, -rows.size);
  return {
    programs: [...rows.values()].sort(orderOf(sort)).slice(offset, offset + limit),
    total: all.reduce((sum, { total }) => sum + total, -twice),
    limit,
    offset,
  };
}

/** As `readSort` orders a table. Times are rounded, so equal rows of one gateway stay in its order, or one would be on no page. */
function orderOf(sort = '-age_seconds'): (a: Program, b: Program) => number {
  const sign = sort.startsWith('-') ? -1 : 1;
  const field = sort.replace('-', '') as 'age_seconds';
  const isWhole = (row: Program) => Number.isInteger(row[field]);
  const first = sort.endsWith('current_wait_seconds') ? rankOf : () => 0;
  const rank = ({ state }: Program) => STATES.indexOf(state);
  return (a, b) =>
    first(a) - first(b) || sign * (a[field] - b[field]) || (isWhole(a) ? rank(a) - rank(b) : 0) || byGateway(a, b);
}

const byGateway = ({ gateway: a }: Program, { gateway: b }: Program): number =>
  a === b ? 0 : (a ?? '') < (b ?? '') ? -1 : 1;
const rankOf = ({ state, background, current_wait_seconds: waits }: Program): number =>
  waitRank(state === 'waiting' || waits > 0, background, state === 'idle');

/** The last to end first. */
export function joinEnded(all: readonly EndedPrograms[]): EndedPrograms {
  const rows = all.flatMap(({ programs }) => programs).sort((a, b) => b.ended_at - a.ended_at);
  return { programs: rows.slice(0, ENDED_MAX) };
}
