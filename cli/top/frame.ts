import { timeText } from './figures.js';
import { engineLines, totalLines } from './head.js';
import { joined, span, type Line, type Span } from './line.js';
import { helpLines, programLines } from './page.js';
import type { Snapshot } from './poll.js';
import { tableLines } from './table.js';
import { fitted, widthOf } from '../text.js';
import { indexOf, type View } from './view.js';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** All that a frame shows. */
export interface Scene {
  readonly url: string;
  readonly snapshot: Snapshot;
  readonly view: View;
  /** Seconds since 1970, for the gateway's uptime. */
  readonly nowSeconds: number;
  /** Why the gateway does not answer, and for how long; undefined: it does. */
  readonly away: { readonly reason: string; readonly seconds: number } | undefined;
}

/** Rows of the process table that a frame of this height always keeps. */
const TABLE_HEIGHT_MIN = 4;

/** A frame: exactly `rows` lines, none wider than `columns`. */
export function frame(scene: Scene, { columns, rows }: Size): Line[] {
  const head = headLines(scene, columns, rows);
  const height = rows - head.length - 1;
  const body = bodyLines(scene, columns, height).slice(0, Math.max(0, height));
  const gap = Array.from({ length: Math.max(0, height - body.length) }, (): Line => []);
  const lines = [...head, ...body, ...gap, footer(scene, columns)];
  return lines.slice(Math.max(0, lines.length - rows));
}

/** Lines between the head and the footer. */
export const pageHeight = (scene: Scene, { columns, rows }: Size): number =>
  Math.max(1, rows - headLines(scene, columns, rows).length - 2);

/** Everything in one go, for a pipe: the head, and the table whole. */
export function wholeFrame(scene: Scene, columns: number): Line[] {
  const { snapshot, view } = scene;
  const rows = snapshot.programs;
  return [...headLines(scene, columns, Infinity), [], ...tableLines(rows, view, undefined, columns, rows.length + 1)];
}

function headLines(scene: Scene, columns: number, rows: number): Line[] {
  const { snapshot, view } = scene;
  const top = [titleLine(scene, columns), ...(scene.away === undefined ? [] : [awayLine(scene.away, columns)])];
  if (view.screen !== 'table') return top;
  const totals = totalLines(snapshot, columns).slice(0, rows < 10 ? 1 : 2);
  const room = Math.floor((rows - top.length - totals.length - 1 - TABLE_HEIGHT_MIN) / 2);
  return [...top, ...totals, ...engineLines(snapshot, columns, Math.min(room, snapshot.engines.length + 1))];
}

function titleLine({ url, snapshot, view, nowSeconds }: Scene, columns: number): Line {
  const { policy, draining, started_at: startedAt, demo_programs: demo } = snapshot.gateway;
  const up = startedAt > 0 ? `up ${timeText(Math.max(0, nowSeconds - startedAt))}` : '';
  const time = new Date(1000 * nowSeconds).toTimeString().slice(0, 8);
  const marks = [
    ...(view.frozen ? [span('FROZEN', 'inverse')] : []),
    ...(draining ? [span('DRAINING', 'inverse')] : []),
  ];
  const address = url.replace(/^http:\/\//, '');
  return joined([span('maitred', 'bold'), ...marks, span(fitted(address, Math.min(widthOf(address), Math.max(0, columns - 18)))), span(up), span(time), span(`policy ${policy}`), span(demo ? `demo: ${demo.ended} of ${demo.total} ended` : '')], columns); // prettier-ignore
}

function awayLine({ reason, seconds }: NonNullable<Scene['away']>, columns: number): Line {
  return [span(fitted(`${timeText(seconds)} without an answer, trying again: ${reason}`, columns), 'bad')];
}

function bodyLines({ snapshot, view }: Scene, columns: number, height: number): Line[] {
  if (view.screen === 'table') {
    const rows = snapshot.programs;
    const lines = tableLines(rows, view, indexOf(rows, view), columns, height);
    const nothing = view.filter === '' ? 'no programs yet' : 'no program matches the filter';
    return rows.length > 0 ? lines : [...lines, joined([span(` ${nothing}`, 'dim')], columns)];
  }
  const lines = view.screen === 'help' ? helpLines(columns) : programLines(openedIn(snapshot, view), columns);
  return lines.slice(Math.min(view.scroll, Math.max(0, lines.length - height)));
}

/** The opened program, unless a late answer was about another. */
const openedIn = ({ detail }: Snapshot, { selected }: View): Snapshot['detail'] =>
  detail === null || detail?.key === selected ? detail : undefined;

function footer({ snapshot, view }: Scene, columns: number): Line {
  if (view.ending !== undefined) {
    const question = ' Its attained service is forgotten; running calls finish. [y/N]';
    const name = fitted(view.ending.id, Math.min(widthOf(view.ending.id), Math.max(8, columns - question.length - 6)));
    const short = columns < question.length + 20 ? ' [y/N]' : question;
    const room = Math.max(8, columns - short.length - 5);
    return [span(`End ${fitted(name, Math.min(widthOf(name), room))}?${short}`, 'bad')];
  }
  if (view.typing !== undefined) return [span('Filter: ', 'bold'), span(ending(view.filter, columns - 9)), span('_')];
  if (view.notice !== '') return joined([span(view.notice, 'warning')], columns);
  const keys = { table: TABLE_KEYS, program: PAGE_KEYS, help: PAGE_KEYS }[view.screen];
  return joined([...shownOf(snapshot, view), ...keys], columns);
}

/** How many programs the table has, where it is not all of them. */
function shownOf(snapshot: Snapshot, view: View): Span[] {
  if (view.screen !== 'table') return [];
  const shown = snapshot.programs.length;
  const filter = view.filter === '' ? '' : ` "${fitted(view.filter, Math.min(20, widthOf(view.filter)))}"`;
  return shown === snapshot.total && filter === '' ? [] : [span(`${shown} of ${snapshot.total}${filter}`, 'bold')];
}

/** The end of a text, where its cursor is. */
function ending(text: string, width: number): string {
  let shown = text;
  while (widthOf(shown) > Math.max(0, width)) shown = Array.from(shown).slice(1).join('');
  return shown;
}

const TABLE_KEYS = ['h help', 'q quit', 'Enter open', '/ filter', '<> sort', 'r reverse', 'k end', 'space freeze'].map((text) => span(text)); // prettier-ignore
const PAGE_KEYS = ['q back', 'up/down scroll', 'space freeze'].map((text) => span(text));
