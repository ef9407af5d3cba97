import { PROBLEMS_MAX } from '../../plans/index.js';
import { isEnded, type BatchObject } from '../batches/objects.js';
import type { BatchView } from '../batches/work.js';
import type { Parts } from '../context.js';
import { isServing } from '../engines/index.js';
import { labelOf } from '../identity/names.js';
import type { ProgramView } from '../../src/index.js';
import type * as Answers from './answers.js';
import { longestWaiting } from './query.js';
import { count, counted, secondsOr, span } from './figures.js';

const SHOWN_MAX = 20;
const FAULTS_SHOWN_MAX = 3;

const underWay = ({ batches }: Parts): readonly BatchView[] => batches?.batches?.underWay() ?? [];

/** Batches under way on this gateway, the oldest first. */
export const batchRows = (context: Parts): Answers.Batch[] =>
  underWay(context)
    .slice(0, SHOWN_MAX)
    .map((batch) => {
      const stop = stopOf(context, batch);
      return {
        id: batch.id,
        tenant: batch.tenant,
        lines: batch.request_counts,
        in_flight: batch.inFlight,
        ready: batch.ready,
        rest_seconds: secondsOr(stop === '' ? batch.restMs : undefined),
        pace: stop === '' ? paceInWords(batch) : '',
        late: batch.isLate,
        expires_at: batch.expires_at,
        stuck: batch.status !== 'cancelling' && stop !== '',
        text: [...(stop === '' ? [] : [`It${stop}.`]), ...troublesInWords(batch)].join('\n'),
      };
    });

/** Batches that have ended on this gateway, the last to end first. */
export const endedBatchRows = ({ batches }: Parts): Answers.EndedBatch[] =>
  (batches?.batches?.ended ?? []).map((batch) => ({
    id: batch.id,
    tenant: batch.tenant,
    lines: batch.request_counts,
    status: batch.status as Answers.EndedBatch['status'],
    ended_at: batch.endedAt,
    text: resultInWords(batch),
  }));

/** Its counts, and the file of its errors; of one whose file was refused, the first faults. */
function resultInWords(batch: BatchObject): string {
  const { errors, error_file_id: file, status, request_counts: counts } = batch;
  if (errors !== null) return faultsInWords(errors.data);
  const left = counts.total - counts.completed - counts.failed;
  const end = status === 'expired' ? 'its window ended' : 'cancelled';
  const rest = left === 0 ? '' : `; ${end} before the other ${count(left)} ${left === 1 ? 'was' : 'were'} answered`;
  const all = file === null ? '' : `: see /v1/files/${file}/content`;
  return [`${countsInWords(counts, batch.left_out)}${rest}${all}.`, ...troublesInWords(batch)].join('\n');
}

/** How long it will take, or why no line has ended for so long that none can tell; '': too few have ended. */
function paceInWords({ restMs, stillMs, isLate, inFlight, ready }: BatchView): string {
  if (stillMs === 0) return restMs === undefined ? '' : `about ${span(restMs)} left at the pace so far`;
  const others = isLate ? '' : ': its lines take only the room that other calls leave';
  const why = inFlight > 0 ? others : ready > 0 ? ': other batches have all places' : '';
  return `no line has ended for ${span(stillMs)}${why}`;
}

export function batchInShort({ id, lines, pace, late, stuck, text }: Answers.Batch): string {
  const stop = stuck ? `. ${text.split('\n')[0]}` : '.';
  return `${id}: ${count(lines.completed + lines.failed)} of ${counted(lines.total, 'line')}${lines.failed > 0 ? `, ${count(lines.failed)} of which failed` : ''}${late ? ', late' : ''}${pace && `, ${pace}`}${stop}`;
}

/** How far a batch is. Lines that conditions leave out count as completed, but are told apart. @param leftOut absent: of an earlier version */
export function countsInWords({ total, completed, failed }: BatchObject['request_counts'], leftOut = 0): string {
  const without =
    leftOut === 0 ? '' : `, ${count(leftOut)} left out by ${leftOut === 1 ? 'its condition' : 'their conditions'}`;
  return `${count(completed - leftOut)} of ${counted(total, 'line')} answered${without}, ${count(failed)} failed`;
}

/** Enough of an id to tell batches apart. */
const BEGINNING = /^batch_[\da-f]{4,}$/;

/** How far a batch is, and how long it will take; undefined: this gateway has no such batch. */
export function batchInWords(context: Parts, beginning: string): string | undefined {
  const { batch: kept } = (BEGINNING.test(beginning) && context.batches?.batches?.find(beginning)) || {};
  if (kept === undefined) return undefined;
  const { id, status, errors } = kept;
  const batch = underWay(context).find((each) => each.id === id);
  if (batch === undefined) {
    const result = status === 'validating' ? 'its file is being read.' : resultInWords(kept);
    return `Batch ${id} ${/failed|expired/.test(status) ? 'has' : 'is'} ${status}:${errors === null ? ' ' : '\n'}${result}`;
  }
  const { inFlight, ready } = batch;
  const { total, completed, failed } = batch.request_counts;
  // Of a list that is not there yet, all places may be ready.
  const pausing = batch.pauses?.calls ?? 0;
  const isEnding = batch.status === 'cancelling';
  const leftMs = 1000 * batch.expires_at - Date.now();
  const needing = Math.max(0, total - completed - failed - inFlight - ready - pausing);
  const stop = stopOf(context, batch);
  const atWork =
    context.batches?.batches?.fault === undefined ? 'queued or running' : 'queued, running or answered in memory';
  const others = underWay(context).reduce((sum, each) => sum + each.inFlight, -inFlight);
  const parts = [
    [inFlight, atWork],
    [isEnding ? 0 : ready, 'ready'],
    [pausing, 'paused'],
    [stop === '' ? needing : 0, 'waiting for answers'],
  ] as const;
  const standing = parts.flatMap(([lines, what]) => (lines > 0 ? [`${count(lines)} ${what}`] : [])).join(', ');
  const pace = paceInWords(batch) || 'too few lines have ended to tell how long it will take';
  const going = [
    `${pace.charAt(0).toUpperCase()}${pace.slice(1)}.`,
    ...(batch.isLate ? ['It is late, so its lines are calls like all others.'] : []),
    ...(ready > 0 && inFlight === 0 && others > 0
      ? [
          `It waits for a place: other batches have ${counted(others, 'line')} under way, and only so many may be (docs/BATCHES.md).`,
        ]
      : []),
  ];
  const details = [
    ...(standing === '' ? [] : [`Lines: ${standing}.`]),
    leftMs > 0 ? `Its window ends in ${span(leftMs)}.` : 'Its window is over.',
    ...(stop === '' ? going : []),
  ];
  const first = `Batch ${id} of tenant ${batch.tenant}${stop}: ${countsInWords(batch.request_counts, batch.left_out)}.`;
  return [first, details.join(' '), ...troublesInWords(batch)].join('\n');
}

/** Cancels a batch unless it has ended. @returns how far it is; '': it is not here @throws GatewayError `batch_ended` at its very end */
export async function cancelBatch(context: Parts, id: string): Promise<string> {
  const batches = context.batches?.batches;
  const found = batches?.find(id);
  if (batches === undefined || found?.batch.id !== id) return '';
  if (!isEnded(found.batch)) await batches.cancel(found.shelf.tenant, id);
  const [text = ''] = batchInWords(context, id)?.split('\n') ?? [];
  return `${text} Its answers are kept.`;
}

/** Why no further line can run now; '': some may. */
function stopOf({ batches, config, fleet }: Parts, { status }: BatchView): string {
  const fault = batches?.batches?.fault;
  const [isEnding, does] =
    status === 'cancelling' ? [true, 'is being cancelled, but cannot end'] : [false, 'cannot go on'];
  if (fault !== undefined)
    return ` ${does}, as the folder ${config.batches.folder} ${fault}; once that is mended, the answers in memory are written, and all goes on by itself`;
  if (isEnding) return ' is being cancelled, and its running lines finish first';
  return fleet.list().some(isServing) ? '' : ' cannot go on, as no engine is up';
}

/** Why the line that paused last does, and the first lines to fail. */
function troublesInWords({
  pauses,
  failures,
  request_counts: counts,
}: Pick<BatchView, 'failures' | 'request_counts'> & Partial<Pick<BatchView, 'pauses'>>) {
  const failed = (failures?.data ?? []).map(({ line, message }) => `Line ${line} failed: ${message}`);
  if (failed.length > 0 && counts.failed > failed.length)
    failed.push(`And ${count(counts.failed - failed.length)} more failed.`);
  if (pauses === undefined) return failed;
  const { line, message, afterMs, attemptsLeft: left } = pauses.last;
  const until = left === undefined ? 'until its window ends' : `at most ${counted(left, 'time')} more`;
  return [`Line ${line} pauses for ${span(afterMs)}, and is asked again ${until}: ${message}`, ...failed];
}

function faultsInWords(faults: NonNullable<BatchObject['errors']>['data']): string {
  const shown = faults
    .slice(0, FAULTS_SHOWN_MAX)
    .map(({ line, message }) => (line === null ? message : `Line ${line}: ${message}`));
  const more = faults.length - shown.length;
  // A file may have more than are kept.
  const least = faults.length >= PROBLEMS_MAX ? 'at least ' : '';
  return [...shown, ...(more === 0 ? [] : [`And ${least}${more} more, in the "errors" of the batch.`])].join('\n');
}

/** A program of the batch whose line waits in the queue; undefined: none does. */
export function waitingProgram(rows: Iterable<ProgramView>, id: string): ProgramView | undefined {
  for (const row of rows) if (labelOf(row.id).startsWith(id) && longestWaiting(row) !== undefined) return row;
  return undefined;
}
