import type { Program } from '../sidecar/admin/answers.js';
import { sortOf } from './select.js';
import { go, show, urlOf, view } from './state.js';
import { namedBy, nameOf } from './words.js';

export interface Column<Row> {
  readonly name: string;
  /** Key of the API's `sort`, or of the row of an ended program; absent: not sortable. */
  readonly sort?: string;
  readonly cell: (row: Row) => string;
  /** Narrowest windows that show it; absent: those of desks. */
  readonly from?: 'phone' | 'tablet' | 'large';
  readonly isText?: true;
  /** Where its name does not say it. */
  readonly meaning?: string;
}

type Listed = Pick<Program, 'id' | 'key' | 'agent_type' | 'identified_by'> & {
  readonly state?: string;
  readonly ended_at?: number;
};

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Stands there without rows. */
  readonly empty: string;
}

/** Programs, each a link to its own page. */
export function Table<Row extends Listed>({ label, columns, rows, empty }: TableProps<Row>) {
  return (
    <div class="scroller" tabIndex={0} role="region" aria-label={label}>
      <table class="programs">
        <thead>
          <tr>
            <th scope="col">Program</th>
            {columns.map((column) => (
              <Head key={column.name} {...column} />
            ))}
          </tr>
        </thead>
        <tbody>
          {/* A row moves with its program, or a click may open another one. An id may end several times. */}
          {rows.map((row) => (
            <tr key={`${row.key} ${row.ended_at}`} class={row.state}>
              <th scope="row" title={`${row.id}, ${namedBy(row)}`}>
                <a href={urlOf({ program: row.key })} onClick={(event) => go(event, { program: row.key })}>
                  {nameOf(row)}
                </a>
              </th>
              {columns.map((column) => (
                <td key={column.name} class={styleOf(column)} title={column.isText && column.cell(row)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="quiet empty">{empty}</p>}
    </div>
  );
}

const styleOf = ({ from, isText }: Pick<Column<never>, 'from' | 'isText'>): string =>
  `${from ?? 'desk'} ${isText ? '' : 'number'}`;

function Head<Row>(column: Column<Row>) {
  const { name, sort, meaning } = column;
  const now = sortOf(view.value);
  if (sort === undefined)
    return (
      <th scope="col" class={styleOf(column)} title={meaning}>
        {name}
      </th>
    );
  const order = now === sort ? 'ascending' : now === `-${sort}` ? 'descending' : 'none';
  const next = order === 'descending' ? sort : `-${sort}`;
  return (
    <th scope="col" aria-sort={order} class={styleOf(column)}>
      <button type="button" title={meaning} onClick={() => show({ sort: next, page: '' })}>
        {name}
        <span aria-hidden="true">{{ ascending: ' ▲', descending: ' ▼', none: '' }[order]}</span>
      </button>
    </th>
  );
}
