import type { EndedPrograms } from '../sidecar/admin/answers.js';
import { clock, count, duration, percent, ratio } from './format.js';
import { ended, go, urlOf } from './state.js';
import { NAMED_BY, nameOf } from './words.js';

type Row = EndedPrograms['programs'][number];

const CAUSES: Readonly<Record<Row['cause'], string>> = {
  ended: 'on request',
  expired: 'idle for too long',
  evicted: 'idle, row needed',
};

/** Name, style and content of each column; of queued time, the share of all that its calls spent here. */
const COLUMNS: readonly (readonly [string, string, (row: Row) => string])[] = [
  ['Ended', 'number', (row) => clock(row.ended_at)],
  ['Took', 'number', (row) => duration(row.duration_seconds)],
  ['Queued', 'number', (row) => percent(ratio(row.queue_seconds, row.queue_seconds + row.service_seconds))],
  ['Calls', 'number desk', (row) => count(row.calls)],
  ['Engine', 'desk', (row) => row.engine ?? '–'],
  ['Model', 'tablet', (row) => row.model ?? '–'],
  ['Why ended', 'tablet', (row) => CAUSES[row.cause]],
];

/** The last programs that have left the table. Their calls are still known, as far as they are remembered. */
export function Ended() {
  const rows = ended.value?.programs ?? [];
  return (
    <div class="scroller" tabIndex={0} role="region" aria-label="Ended programs">
      <table class="programs">
        <thead>
          <tr>
            {['Program', ...COLUMNS.map(([name]) => name)].map((name, at) => (
              <th key={name} scope="col" class={COLUMNS[at - 1]?.[1]}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{rows.map((row) => EndedRow(row))}</tbody>
      </table>
      {rows.length === 0 && (
        <p class="quiet empty">None yet: a program ends when its client says so, or by its lease.</p>
      )}
    </div>
  );
}

function EndedRow(row: Row) {
  const target = { program: row.key, span: '' };
  return (
    <tr key={`${row.key} ${row.ended_at}`}>
      <th scope="row" title={`${row.id}, ${NAMED_BY(row)}`}>
        <a href={urlOf(target)} onClick={(event) => go(event, target)}>
          {nameOf(row)}
        </a>
      </th>
      {COLUMNS.map(([name, style, cell]) => (
        <td key={name} class={style} title={cell(row)}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}
