import type { EndedProgram } from '../sidecar/admin/answers.js';
import { sortOf, type View } from './state.js';

/** A key begins with its tenant, whose own `:` and `~` are escaped. */
const tenantOf = (key: string): string => decodeURIComponent(/^[^:~]*/.exec(key)?.[0] ?? '');

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
        (tenant === '' || tenantOf(row.key) === tenant),
    )
    .sort((a, b) => sign * (a[field] - b[field]));
}
