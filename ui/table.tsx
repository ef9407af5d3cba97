import type { Program } from '../sidecar/admin/answers.js';
import { Link } from './command.js';
import { Whole } from './names.js';
import { sortOf } from './select.js';
import { show, view, type View } from './state.js';

export interface Column<Row> {
  readonly name: string;
  /** Key of the API's `sort`, or of the row of an ended program; absent: not sortable. */
  readonly sort?: string;
  readonly cell: (row: Row) => string;
  /** Narrowest windows that show it beside the others; absent: all. On phones, the table is scrolled to it. */
  readonly from?: 'desk' | 'large';
  readonly isText?: true;
  /** Left out where all rows have the same. */
  readonly isKind?: true;
  /** Tooltip of a cell. */
  readonly hint?: (row: Row) => string;
  /** Where its name does not say it. */
  readonly meaning?: string;
}

/** The head of a row. */
export interface Entry {
  readonly key: string;
  readonly name: string;
  readonly title: string;
  /** Where its link leads; absent: it has none. */
  readonly change: Partial<View> | undefined;
  /** Its colour. */
  readonly state?: Program['state'] | 'hung' | undefined;
}

export interface TableProps<Row> {
  readonly label: string;
  /** Title of the first column. */
  readonly first: string;
  readonly entry: (row: Row) => Entry;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Stands there without rows. */
  readonly empty: string;
}

export function Table<Row>({ label, first, entry, columns: all, rows, empty }: TableProps<Row>) {
  const columns = all.filter(({ isKind, cell }) => isKind === undefined || new Set(rows.map(cell)).size > 1);
  return (
    <div class="scroller" tabIndex={0} role="region" aria-label={label}>
      <table class="programs">
        <thead>
          <tr>
            <th scope="col">{first}</th>
            {columns.map((column) => (
              <Head key={column.name} {...column} />
            ))}
          </tr>
        </thead>
        <tbody>
          {/* A row moves with its key, or a click may open another one. */}
          {rows.map((row) => {
            const { key, name, title, change, state } = entry(row);
            return (
              <tr key={key} class={state}>
                <th scope="row" title={title}>
                  {change === undefined ? <Whole text={name} /> : <Link change={change}>{<Whole text={name} />}</Link>}
                </th>
                {columns.map((column) => (
                  <Cell key={column.name} column={column} row={row} />
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length === 0 && <p class="quiet empty">{empty}</p>}
    </div>
  );
}

function Cell<Row>({ column, row }: { readonly column: Column<Row>; readonly row: Row }) {
  const { cell, hint, isText } = column;
  const text = cell(row);
  return (
    <td class={styleOf(column)} title={hint?.(row)}>
      {isText ? (
        <div class="name">
          <Whole text={text} />
        </div>
      ) : (
        text
      )}
    </td>
  );
}

const styleOf = ({ name, from, isText }: Pick<Column<never>, 'name' | 'from' | 'isText'>): string =>
  `${from ?? ''} ${isText ? name.toLowerCase() : 'number'}`;

function Head<Row>(column: Column<Row>) {
  const { name, sort = '', meaning } = column;
  const now = sortOf(view.value);
  const order = now === sort ? 'ascending' : now === `-${sort}` ? 'descending' : 'none';
  const next = order === 'descending' ? sort : `-${sort}`;
  return (
    <th scope="col" aria-sort={sort === '' ? undefined : order} class={styleOf(column)} title={meaning}>
      {sort === '' ? (
        name
      ) : (
        <button type="button" onClick={() => show({ sort: next, page: '' })}>
          {name}
          <span aria-hidden="true">{{ ascending: ' ▲', descending: ' ▼', none: '' }[order]}</span>
        </button>
      )}
    </th>
  );
}
