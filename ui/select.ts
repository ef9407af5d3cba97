import type { EndedProgram } from '../sidecar/admin/answers.js';

/** Of a view. */
type Choices = Readonly<Record<'tab' | 'sort' | 'text' | 'engine' | 'tenant' | 'model' | 'agent_type', string>>;

/** A key begins with its tenant, whose own `:`, `~` and `%` are escaped. */
export const tenantOf = (key: string): string =>
  (/^[^:~]*/.exec(key)?.[0] ?? '').replaceAll(/%(?:25|3A|7E)/g, (code) => decodeURIComponent(code));

export const sortOf = ({ tab, sort }: Pick<Choices, 'tab' | 'sort'>): string =>
  sort || (tab === 'ended' ? '-ended_at' : '-current_wait_seconds');

/** Ended programs that match the filters, in the order of the view, as the gateway selects the present ones. */
export function selectEnded(rows: readonly EndedProgram[], choices: Choices): EndedProgram[] {
  const { text, engine, tenant, model, agent_type: type } = choices;
  const words = text.toLowerCase().split(/\s+/);
  const sort = sortOf(choices);
  const field = sort.replace('-', '') as 'ended_at';
  const sign = sort.startsWith('-') ? -1 : 1;
  return rows
    .filter(
      (row) =>
        words.every((word) => row.key.toLowerCase().includes(word)) &&
        (engine === '' || row.engine === engine) &&
        (tenant === '' || tenantOf(row.key) === tenant) &&
        (model === '' || row.model === model) &&
        (type === '' || row.agent_type === type),
    )
    .sort((a, b) => sign * (a[field] - b[field]));
}
