import { fitted, printable, wrapped } from '../text.js';
import { tableLines } from './columns.js';
import { counted } from './figures.js';
import type { Snapshot } from './snapshot.js';

export interface Scene {
  readonly url: string;
  /** As the gateway takes it. */
  readonly sort: string;
  readonly snapshot: Snapshot;
  /** Why the gateway does not answer; absent: it does. */
  readonly fault?: string | undefined;
}

/**
 * The gateway in words, the titles of the table and its rows: printable lines, none wider than `width`.
 * @param headLines exact lines of the words; absent: as many as they need
 */
export function frame({ url, sort, snapshot, fault }: Scene, width: number, headLines?: number): string[] {
  const words = wrapped(fault === undefined ? headOf(url, snapshot) : `No answer, trying again: ${fault}`, width);
  const last = (headLines ?? words.length) - 1;
  const head = Array.from({ length: last + 1 }, (_, at) => (at < last ? (words[at] ?? '') : words.slice(at).join(' ')));
  const nothing = snapshot.programs.length === 0 ? [`no program${snapshot.filter === '' ? '' : ' matches'}`] : [];
  return [...head, ...tableLines(snapshot.programs, sort, width), ...nothing].map((line) => fitted(line, width));
}

/** Troubles stand first, as a small terminal cuts the rest. */
function headOf(url: string, { gateway, programs, filter, offset, total }: Snapshot): string {
  const { status, demo_programs: demo, policy } = gateway;
  const shown = programs.length < total ? `, shown ${offset + 1} to ${offset + programs.length}` : '';
  const sentences = [
    `${url.replace(/^http:\/\//, '')}: ${counted(total, 'program')}${filter === '' ? '' : ` with ${printable(filter)}`}${shown}.`,
    status?.text,
    demo && `Demo: ${demo.ended} of ${demo.total} ended.`,
    policy && `Policy ${policy}.`,
  ];
  return sentences.filter(Boolean).join(' ');
}
