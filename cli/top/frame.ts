import { counted, factsOf } from '../../text/index.js';
import { fitted, printable, wrapped } from '../text.js';
import { tableLines } from './columns.js';
import type { Snapshot } from './snapshot.js';

export interface Scene {
  readonly url: string;
  /** As the gateway takes it. */
  readonly sort: string;
  readonly snapshot: Snapshot;
  /** Why the gateway does not answer; absent: it does. */
  readonly fault?: string | undefined;
}

/** Lines of the words on a screen: as many as they need, up to a third of it. */
export const headLinesOf = (scene: Scene, width: number, height: number): number =>
  Math.min(Math.floor(height / 3), wordsOf(scene, width).length);

/**
 * The gateway in words, the titles of the table and its rows: printable lines, none wider than `width`.
 * @param headLines exact lines of the words, cut if they are longer; absent: as many as they need
 */
export function frame(scene: Scene, width: number, headLines?: number): string[] {
  const { programs, filter } = scene.snapshot;
  const words = wordsOf(scene, width);
  const last = (headLines ?? words.length) - 1;
  const head = Array.from({ length: last + 1 }, (_, at) => (at < last ? (words[at] ?? '') : words.slice(at).join(' ')));
  const nothing = programs.length === 0 ? [`no program${filter === '' ? '' : ' matches'}`] : [];
  return [...head, ...tableLines(programs, scene.sort, width), ...nothing].map((line) => fitted(line, width));
}

/** Each fact in lines of its own: where there is no room, the end is cut. */
function wordsOf({ url, snapshot, fault }: Scene, width: number): string[] {
  const { gateway, programs, filter, offset, total, readAt } = snapshot;
  if (fault !== undefined)
    return wrapped(`No answer since ${readAt}, so the rows below are old. Trying again: ${fault}`, width);
  const { status, demo_programs: demo, policy } = gateway;
  const shown = programs.length < total ? `, shown ${offset + 1} to ${offset + programs.length}` : '';
  const table = `${counted(total, 'program')}${filter === '' ? '' : ` with ${printable(filter)}`}${shown}.`;
  const facts = [
    `${url.replace(/^http:\/\//, '')}: ${table}${policy ? ` Policy ${policy}.` : ''}`,
    ...(status === undefined ? [] : factsOf(status).map(({ text }) => text)),
    demo ? `Demo: ${demo.ended} of ${demo.total} ended.` : '',
  ];
  return facts.flatMap((fact) => wrapped(fact, width));
}
