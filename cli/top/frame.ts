import { fitted, widthOf } from '../text.js';
import { tableLines } from './columns.js';
import { causeText, counted, countText, timeText } from './figures.js';
import type { Snapshot } from './snapshot.js';

/** All that a frame shows. */
export interface Scene {
  readonly url: string;
  /** As the gateway takes it. */
  readonly sort: string;
  readonly snapshot: Snapshot;
  /** Why the gateway does not answer; absent: it does. */
  readonly fault?: string | undefined;
}

/** The gateway in one line, the titles of the table and its rows: printable lines, none wider than `width`. */
export function frame({ url, sort, snapshot, fault }: Scene, width: number): string[] {
  const head = fault === undefined ? joined(headOf(url, snapshot), width) : `No answer, trying again: ${fault}`;
  const nothing = snapshot.programs.length === 0 ? ['no program'] : [];
  return [head, ...tableLines(snapshot.programs, sort, width), ...nothing].map((line) => fitted(line, width));
}

/** Columns of the reason why an engine is down. */
const DOWN_WIDTH = 40;

/** The most telling first: on narrow terminals the last ones have no room. */
function headOf(url: string, { gateway, engines, queue, programs, offset, total }: Snapshot): string[] {
  const running = engines.reduce((sum, engine) => sum + (engine.all_gateways ?? engine).in_flight, 0);
  const up = engines.filter(({ state }) => state === 'up').length;
  const causes = Object.entries(queue.waiting_for)
    .filter(([, calls]) => calls > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([cause, calls]) => `${causeText(cause)} ${countText(calls)}`);
  const { draining, demo_programs: demo, policy, batches } = gateway;
  const silent = gateway.cluster?.silent ?? [];
  return [
    url.replace(/^http:\/\//, ''),
    ...(draining ? ['DRAINING'] : []),
    ...engines.flatMap(({ id, state, down_reason: reason }) => (reason === null || state === 'draining' ? [] : [`DOWN ${id}: ${fitted(reason, Math.min(DOWN_WIDTH, widthOf(reason)))}`])), // prettier-ignore
    counted(total, 'program'),
    ...(silent.length > 0 ? [`SILENT ${silent.join(', ')}`] : []),
    `${countText(running)} running`,
    `${countText(queue.waiting)} waiting${queue.waiting > 0 ? `, oldest ${timeText(queue.longest_wait_seconds)}` : ''}`,
    `engines ${up}/${engines.length}`,
    ...(causes.length > 0 ? [`for ${causes.join(', ')}`] : []),
    ...(programs.length < total ? [`shown ${offset + 1} to ${offset + programs.length}`] : []),
    ...batches.map(batchText),
    ...(demo ? [`demo: ${demo.ended} of ${demo.total} ended`] : []),
    `policy ${policy}`,
  ];
}

function batchText({ id, lines, rest_seconds: rest }: Snapshot['gateway']['batches'][number]): string {
  const { total, completed, failed } = lines;
  return `${id}: ${countText(completed + failed)} of ${countText(total)} lines${rest === null ? '' : `, ${timeText(rest)} left`}`;
}

/** The segments that fit side by side into `width`, the first ones first. */
function joined([first = '', ...segments]: readonly string[], width: number): string {
  let line = fitted(first, Math.min(width, widthOf(first)));
  for (const segment of segments) {
    const longer = `${line}  ${segment}`;
    if (widthOf(longer) > width) break;
    line = longer;
  }
  return line;
}
