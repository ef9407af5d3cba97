import type { EndedProgram } from '../sidecar/admin/answers.js';
import { sortOf, type View } from './state.js';

/** Ended programs that match the filters, in the order of the view, as the gateway selects the present ones. */
export function selectEnded(rows: readonly EndedProgram[], choices: View): EndedProgram[] {
  const { text, engine, tenant } = choices;
  const words = text.toLowerCase().split(/\s+/);
  const sort = sortOf(choices);
  const field = sort.replace('-', '') as 'ended_at';
  const sign = sort.startsWith('-') ? -1 : 1;
  return rows
    .filter(
      (row) =>
        words.every((word) => row.key.toLowerCase().includes(word)) &&
        (engine === '' || row.engine === engine) &&
        (tenant === '' || row.key.startsWith(`${tenant}:`) || row.key.startsWith(`${tenant}~`)),
    )
    .sort((a, b) => sign * (a[field] - b[field]));
}
