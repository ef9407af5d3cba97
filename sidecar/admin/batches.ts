import type { BatchView } from '../batches/work.js';
import type { Parts } from '../context.js';
import { labelOf } from '../identity/names.js';
import type { ProgramView } from '../../src/index.js';
import type * as Answers from './answers.js';
import { longestWaiting } from './query.js';
import { count, counted, seconds, span } from './figures.js';

const SHOWN_MAX = 20;

const underWay = ({ batches }: Parts): readonly BatchView[] => batches?.batches?.underWay() ?? [];

/** Batches under way on this gateway, the oldest first. */
export function batchRows(context: Parts): Answers.Batch[] {
  return underWay(context)
    .slice(0, SHOWN_MAX)
    .map(({ id, tenant, request_counts: lines, inFlight, ready, restMs, isLate, expires_at: until }) => ({
      id,
      tenant,
      lines,
      in_flight: inFlight,
      ready,
      rest_seconds: restMs === undefined ? null : seconds(restMs),
      late: isLate,
      expires_at: until,
    }));
}

/** How far a batch is, in one line among others. */
export function batchInShort({ id, lines, rest_seconds: rest, late }: Answers.Batch): string {
  const left = rest === null ? '' : `, about ${span(1000 * rest)} left`;
  return `${id}: ${count(lines.completed + lines.failed)} of ${counted(lines.total, 'line')}${left}${late ? ', late' : ''}.`;
}

/** How far a batch is, and how long it will take; undefined: this gateway has no such batch. */
export async function batchInWords(context: Parts, id: string): Promise<string | undefined> {
  const batch = underWay(context).find((each) => each.id === id);
  if (batch === undefined) {
    const other = await context.batches?.batches?.find(id);
    if (other === undefined) return undefined;
    const { total, completed, failed } = other.request_counts;
    return `Batch ${id} is ${other.status}: of ${total} lines, ${completed} are answered and ${failed} have failed.`;
  }
  const { tenant, request_counts: lines, inFlight, ready, restMs, isLate, expires_at: until } = batch;
  const { total, completed, failed } = lines;
  // Of a list that is not there yet, all places may be ready.
  const needing = Math.max(0, total - completed - failed - inFlight - ready);
  return [
    `Batch ${id} of tenant ${tenant}: of ${total} lines, ${completed} are answered and ${failed} have failed; ${inFlight} under way, ${ready} may start, and ${needing} need answers first or pause.`,
    restMs === undefined
      ? 'No line has ended yet, so nothing tells how long it will take.'
      : `At the pace so far it ends in about ${span(restMs)}.`,
    `Its window ends in ${span(1000 * until - Date.now())}.`,
    isLate
      ? 'That is too early, so its lines are calls like all others.'
      : 'Its lines take only the room that other calls leave.',
  ].join(' ');
}

/** A program of the batch whose line waits in the queue; undefined: none does. */
export function waitingProgram(rows: Iterable<ProgramView>, id: string): ProgramView | undefined {
  for (const row of rows) if (labelOf(row.id).startsWith(`${id}.`) && longestWaiting(row) !== undefined) return row;
  return undefined;
}
