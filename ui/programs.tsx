import { useEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import type { Program } from '../sidecar/admin/answers.js';
import { brief, count, counted, duration, percent, ratio, tokens } from './format.js';
import { engines, gateway, go, programs, rowWindow, show, urlOf, view, type View } from './state.js';
import { Ended } from './ended.js';
import { LEVEL_MEANING, SERVICE_MEANING, NAMED_BY, WAITED_FOR, nameOf } from './words.js';

interface Column {
  readonly name: string;
  /** Key of the API's `sort`; absent: not sortable. */
  readonly sort?: string;
  readonly cell: (row: Program) => string;
  /** Narrowest windows that show it; absent: those of desks. */
  readonly from?: 'phone' | 'tablet' | 'large';
  readonly isText?: true;
  /** Where its name does not say it. */
  readonly meaning?: string;
}

const COLUMNS: readonly Column[] = [
  { name: 'State', cell: stateOf, from: 'phone', isText: true },
  {
    name: 'Waits',
    sort: 'current_wait_seconds',
    cell: (row) => (row.current_wait_seconds > 0 ? duration(row.current_wait_seconds) : '–'),
    from: 'phone',
  },
  {
    name: 'For',
    meaning: 'Cause of its longest wait now',
    cell: ({ current_wait_cause: cause }) => (cause === null ? '' : WAITED_FOR[cause]),
    from: 'phone',
    isText: true,
  },
  {
    name: 'Level',
    meaning: LEVEL_MEANING,
    sort: 'level',
    cell: (row) => String(row.level),
    from: 'tablet',
  },
  {
    name: 'Queued',
    meaning: 'The waits of all its calls together',
    sort: 'waiting_seconds',
    cell: (row) => duration(row.waiting_seconds),
  },
  {
    name: 'Service',
    meaning: SERVICE_MEANING,
    sort: 'attained_service_seconds',
    cell: (row) => duration(row.attained_service_seconds),
    from: 'tablet',
  },
  { name: 'Engine', cell: (row) => brief(row.engine ?? '–', 24), from: 'tablet', isText: true },
  { name: 'Type', cell: (row) => row.agent_type ?? '–', from: 'large', isText: true },
  { name: 'Model', cell: (row) => brief(row.model ?? '–', 24), from: 'large', isText: true },
  { name: 'Calls', sort: 'calls', cell: (row) => count(row.calls), from: 'tablet' },
  { name: 'Context', sort: 'context_tokens', cell: (row) => tokens(row.context_tokens), from: 'large' },
  { name: 'Cached', cell: (row) => percent(ratio(row.cached_tokens, row.prompt_tokens)), from: 'large' },
  {
    name: 'Idle',
    meaning: 'Time since its last call ended',
    sort: 'idle_seconds',
    cell: (row) => (row.state === 'idle' ? duration(row.idle_seconds) : '–'),
  },
  { name: 'Age', sort: 'age_seconds', cell: (row) => duration(row.age_seconds) },
];
const GATEWAY: Column = { name: 'Gateway', cell: (row) => brief(row.gateway ?? '–', 24), from: 'tablet', isText: true };
/** Of a cluster the gateways, too. */
const columns = (): readonly Column[] => (gateway.value?.cluster ? [...COLUMNS, GATEWAY] : COLUMNS);

/** Some of a program's calls may wait while others run. */
function stateOf({ state, current_wait_seconds: waits }: Program): string {
  return state === 'running' && waits > 0 ? 'run+wait' : state;
}

/** Height of a row, as in the style sheet. */
const ROW_PX = 32;
/** Rows around those in sight; the window moves in steps of as many, so that few steps load another part. */
const AROUND = 30;

export function Programs() {
  const total = programs.value?.total ?? 0;
  return (
    <section aria-labelledby="programs">
      <h2 id="programs">Programs</h2>
      <p class="tabs">
        {[
          ['', 'Present'],
          ['ended', 'Ended'],
        ].map(([name = '', words]) => (
          <button key={name} type="button" aria-pressed={view.value.tab === name} onClick={() => show({ tab: name })}>
            {words}
          </button>
        ))}
      </p>
      {view.value.tab === 'ended' ? (
        <Ended />
      ) : (
        <>
          <Filters total={total} />
          <Table total={total} />
        </>
      )}
    </section>
  );
}

function Filters({ total }: { readonly total: number }) {
  const { text, state, engine, tenant } = view.value;
  const change = (name: keyof View) => (event: Event) =>
    show({ [name]: (event.currentTarget as HTMLInputElement).value });
  const known = engines.value?.engines.map(({ id }) => id) ?? [];
  const tenants = [...new Set(programs.value?.programs.map((row) => row.tenant))].sort();
  return (
    <form class="filters" role="search" aria-label="Programs" onSubmit={(event) => event.preventDefault()}>
      <label>
        Text <input type="search" value={text} onInput={change('text')} placeholder="part of a name" />
      </label>
      <Choice name="State" value={state} of={['active', 'waiting', 'running', 'idle']} onChange={change('state')} />
      <Choice
        name="Engine"
        value={engine}
        of={[...new Set([...known, ...(engine === '' ? [] : [engine])])]}
        onChange={change('engine')}
      />
      <label>
        Tenant <input list="tenants" value={tenant} onChange={change('tenant')} placeholder="any" size={10} />
      </label>
      <datalist id="tenants">
        {tenants.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <span class="quiet">{counted(total, 'program')}</span>
    </form>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly of: readonly string[];
  readonly onChange: (event: Event) => void;
}

const Choice = ({ name, value, of, onChange }: ChoiceProps) => (
  <label>
    {name}{' '}
    <select value={value} onChange={onChange}>
      <option value="">any</option>
      {of.map((each) => (
        <option key={each} value={each}>
          {brief(each, 40)}
        </option>
      ))}
    </select>
  </label>
);

function Table({ total }: { readonly total: number }) {
  const scroller = useRef<HTMLDivElement>(null);
  const { first, inSight, look } = useSight(scroller);
  const { current, move } = useRowKeys(scroller, total, inSight);
  const page = programs.value;
  const from = Math.max(0, Math.min(first, total - inSight) - 5);
  const to = Math.min(total, from + inSight + 10);
  const indices = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
  const focusable = Math.max(from, Math.min(current.value, to - 1));
  return (
    <div class="scroller" ref={scroller} onScroll={look} onKeyDown={move} tabIndex={total === 0 ? 0 : -1}>
      <table class="programs" aria-rowcount={total + 1}>
        <caption class="sr">Programs. Arrow keys move between rows, Enter opens one.</caption>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Program</th>
            {columns().map((column) => (
              <Head key={column.name} column={column} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Space rows={from} />
          {indices.map((index) => (
            <Row
              key={index}
              index={index}
              row={page?.programs[index - page.offset]}
              isCurrent={index === focusable}
              onFocus={() => (current.value = index)}
            />
          ))}
          <Space rows={total - to} />
        </tbody>
      </table>
      {total === 0 && <p class="quiet empty">{isFiltered() ? 'No program matches.' : 'No program has called yet.'}</p>}
    </div>
  );
}

const isFiltered = (): boolean => {
  const { text, state, engine, tenant } = view.value;
  return `${text}${state}${engine}${tenant}` !== '';
};

/** The rows in sight; loads the part of the table around them. */
function useSight(scroller: RefObject<HTMLDivElement | null>) {
  const first = useSignal(0);
  const inSight = useSignal(20);
  const look = () => {
    const box = scroller.current;
    if (box === null) return;
    // The table's greatest height, as in the style sheet: with few rows it is as tall as they are.
    inSight.value = Math.ceil(Math.min(0.7 * innerHeight, 680) / ROW_PX);
    first.value = Math.floor(box.scrollTop / ROW_PX);
    const offset = Math.max(0, Math.floor(first.value / AROUND) * AROUND - AROUND);
    const limit = inSight.value + 3 * AROUND;
    const known = rowWindow.peek();
    if (known.offset !== offset || known.limit !== limit) rowWindow.value = { offset, limit };
  };
  useEffect(() => {
    look();
    addEventListener('resize', look);
    return () => removeEventListener('resize', look);
  }, []);
  return { first: first.value, inSight: inSight.value, look };
}

/** Moves the focus from row to row. A row that is not in sight yet gets it when it is drawn. */
function useRowKeys(scroller: RefObject<HTMLDivElement | null>, total: number, inSight: number) {
  const current = useSignal(0);
  const awaited = useRef(false);
  useEffect(() => {
    if (!awaited.current) return;
    // Not the row of this drawing: by now a further key may have chosen another.
    const link = scroller.current?.querySelector<HTMLElement>(`tr[aria-rowindex="${current.peek() + 2}"] a`);
    link?.focus({ preventScroll: true });
    awaited.current = link === null;
  });
  const move = (event: KeyboardEvent) => {
    const page = Math.max(1, inSight - 2);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -total,
      End: total,
    };
    const step = steps[event.key];
    const box = scroller.current;
    if (step === undefined || box === null || total === 0) return;
    event.preventDefault();
    current.value = Math.max(0, Math.min(total - 1, current.value + step));
    awaited.current = true;
    const top = current.value * ROW_PX;
    // The head of the table covers one row, and the last row should be whole.
    const room = box.clientHeight - 2 * ROW_PX;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top > box.scrollTop + room) box.scrollTop = top - room;
  };
  return { current, move };
}

const Space = ({ rows }: { readonly rows: number }) =>
  rows > 0 ? <tr aria-hidden="true" class="space" style={{ height: `${rows * ROW_PX}px` }} /> : null;

const styleOf = ({ from, isText }: Column): string => `${from ?? 'desk'} ${isText === true ? '' : 'number'}`;

function Head({ column }: { readonly column: Column }) {
  const { name, sort, meaning } = column;
  const now = view.value.sort;
  const order =
    sort === undefined ? undefined : now === sort ? 'ascending' : now === `-${sort}` ? 'descending' : 'none';
  const style = styleOf(column);
  if (sort === undefined)
    return (
      <th scope="col" class={style} title={meaning}>
        {name}
      </th>
    );
  return (
    <th scope="col" aria-sort={order} class={style}>
      <button type="button" title={meaning} onClick={() => show({ sort: order === 'descending' ? sort : `-${sort}` })}>
        {name}
        <span aria-hidden="true">{order === 'ascending' ? ' ▲' : order === 'descending' ? ' ▼' : ''}</span>
      </button>
    </th>
  );
}

interface RowProps {
  readonly index: number;
  /** Undefined while it is loaded. */
  readonly row: Program | undefined;
  readonly isCurrent: boolean;
  readonly onFocus: () => void;
}

function Row({ index, row, isCurrent, onFocus }: RowProps) {
  if (row === undefined)
    return (
      <tr aria-rowindex={index + 2} class="loading">
        <td>…</td>
      </tr>
    );
  const target = { program: row.key, span: '' };
  return (
    <tr aria-rowindex={index + 2} class={row.state}>
      <th scope="row" title={`${row.id} of ${row.tenant}, ${NAMED_BY(row)}`}>
        <a href={urlOf(target)} tabIndex={isCurrent ? 0 : -1} onFocus={onFocus} onClick={(event) => go(event, target)}>
          {nameOf(row)}
        </a>
      </th>
      {columns().map((column) => (
        <td key={column.name} class={styleOf(column)} title={column.isText === true ? column.cell(row) : undefined}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}
