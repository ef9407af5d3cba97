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
  const heads = fault === undefined ? headsOf(url, snapshot) : [`No answer, trying again: ${fault}`];
  const all = heads.map((head) => wrapped(head, width));
  const words = all.find(({ length }) => length <= (headLines ?? Infinity)) ?? all.at(-1) ?? [];
  const last = (headLines ?? words.length) - 1;
  const head = Array.from({ length: last + 1 }, (_, at) => (at < last ? (words[at] ?? '') : words.slice(at).join(' ')));
  const nothing = snapshot.programs.length === 0 ? [`no program${snapshot.filter === '' ? '' : ' matches'}`] : [];
  return [...head, ...tableLines(snapshot.programs, sort, width), ...nothing].map((line) => fitted(line, width));
}

/** Words on the gateway, the longest first: each text leaves out what matters least in the one before. */
function headsOf(url: string, { gateway, programs, filter, offset, total }: Snapshot): string[] {
  const { status, demo_programs: demo, policy } = gateway;
  const shown = programs.length < total ? `, shown ${offset + 1} to ${offset + programs.length}` : '';
  const table = `${counted(total, 'program')}${filter === '' ? '' : ` with ${printable(filter)}`}${shown}.`;
  const named = `${url.replace(/^http:\/\//, '')}: ${table}`;
  // An older gateway has no parts.
  const { text = '', title = '', parts = [{ about: 'calls', text }] } = status ?? {};
  const calls = parts.findIndex(({ about }) => about === 'calls');
  // Batches and the cluster follow the sentence on calls.
  const upToCalls = parts.slice(0, calls + 1).map((part) => part.text);
  const brief = [title !== '' && !title.endsWith(' waiting') && `${title}.`, parts[calls]?.text];
  const more = [demo && `Demo: ${demo.ended} of ${demo.total} ended.`, policy && `Policy ${policy}.`];
  return [
    [named, text, status?.helps, ...more],
    [named, text, ...more],
    [named, text],
    [named, ...upToCalls],
    [named, ...brief],
    [table, ...brief],
    brief,
  ].map((sentences) => sentences.filter(Boolean).join(' '));
}
