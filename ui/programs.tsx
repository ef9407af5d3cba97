import type { EndedProgram, Program } from '../sidecar/admin/answers.js';
import { Choices } from './command.js';
import { brief, clock, count, counted, duration, percent, ratio, tokens } from './format.js';
import { PAGE_ROWS, pageNumber, ended, engines, gateway, programs, show, view, type View } from './state.js';
import { Table, type Column } from './table.js';
import { selectEnded, tenantOf } from './select.js';
import { LEVEL_MEANING, SERVICE_MEANING, whyEnded } from './words.js';

const COLUMNS: readonly Column<Program>[] = [
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
    cell: (row) =>
      `${row.background && row.current_wait_cause !== null ? 'background: ' : ''}${row.current_wait_cause?.replace('_', ' ') ?? ''}`,
    from: 'phone',
    isText: true,
  },
  { name: 'Level', meaning: LEVEL_MEANING, sort: 'level', cell: (row) => String(row.level), from: 'tablet' },
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
const GATEWAY: Column<Program> = {
  name: 'Gateway',
  cell: (row) => brief(row.gateway ?? '–', 24),
  from: 'tablet',
  isText: true,
};

/** Of little use where there is one tenant. */
const TENANT: Column<Pick<Program, 'key'>> = {
  name: 'Tenant',
  cell: ({ key }) => brief(tenantOf(key), 24),
  from: 'tablet',
  isText: true,
};
const withTenants = <Row extends Pick<Program, 'key'>>(rows: readonly Row[], columns: readonly Column<Row>[]) =>
  rows.every(({ key }) => tenantOf(key) === 'default') ? columns : [TENANT, ...columns];

const ENDED: readonly Column<EndedProgram>[] = [
  { name: 'Ended', sort: 'ended_at', cell: (row) => clock(row.ended_at), from: 'phone' },
  { name: 'Took', sort: 'duration_seconds', cell: (row) => duration(row.duration_seconds), from: 'phone' },
  {
    name: 'Queued',
    meaning: 'Share of the time that its calls spent here',
    cell: (row) => percent(ratio(row.queue_seconds, row.queue_seconds + row.service_seconds)),
    from: 'phone',
  },
  { name: 'Calls', sort: 'calls', cell: (row) => count(row.calls) },
  { name: 'Engine', cell: (row) => row.engine ?? '–', isText: true },
  { name: 'Model', cell: (row) => row.model ?? '–', from: 'tablet', isText: true },
  { name: 'Why ended', cell: (row) => whyEnded(row), from: 'tablet', isText: true },
];

/** Some of a program's calls may wait while others run. */
function stateOf({ state, current_wait_seconds: waits }: Program): string {
  return state === 'running' && waits > 0 ? 'run+wait' : state;
}

export function Programs() {
  const { tab } = view.value;
  return (
    <section aria-labelledby="programs">
      <h2 id="programs">Programs</h2>
      <Choices
        names={{ '': 'Present', ended: 'Ended' }}
        now={tab}
        choose={(name) => show({ tab: name, sort: '', state: '', page: '' })}
      />
      {tab === 'ended' ? <Ended /> : <Present />}
    </section>
  );
}

function Ended() {
  const all = ended.value?.programs ?? [];
  const rows = selectEnded(all, view.value);
  const offset = PAGE_ROWS * pageNumber.value;
  return (
    <>
      <Filters total={rows.length} states={[]} />
      <Table
        label="Ended programs"
        columns={withTenants(all, ENDED)}
        rows={rows.slice(offset, offset + PAGE_ROWS)}
        empty={
          all.length > 0 ? 'No program matches.' : 'None yet: a program ends when its client says so, or by its lease.'
        }
      />
      <Pages total={rows.length} offset={offset} />
    </>
  );
}

const NO_CALL = 'No program has called yet: give an agent the address of this gateway, with /v1, as its base URL.';

function Present() {
  const { text, state, engine, tenant } = view.value;
  const isFiltered = `${text}${state}${engine}${tenant}` !== '';
  const { programs: rows = [], total = 0, offset = 0 } = programs.value ?? {};
  return (
    <>
      <Filters total={total} states={['active', 'waiting', 'running', 'idle']} />
      <Table
        label="Present programs"
        columns={withTenants(rows, gateway.value?.cluster ? [...COLUMNS, GATEWAY] : COLUMNS)}
        rows={rows}
        empty={total > 0 ? 'The table has become shorter.' : isFiltered ? 'No program matches.' : NO_CALL}
      />
      <Pages total={total} offset={offset} />
    </>
  );
}

function Filters({ total, states }: { readonly total: number; readonly states: readonly string[] }) {
  const { text, state, engine, tenant } = view.value;
  const change = (name: keyof View) => (event: Event) =>
    show({ [name]: (event.currentTarget as HTMLInputElement).value, page: '' });
  const known = engines.value?.engines.map(({ id }) => id) ?? [];
  return (
    <form class="filters" role="search" aria-label="Programs" onSubmit={(event) => event.preventDefault()}>
      <label>
        Text <input type="search" value={text} onInput={change('text')} placeholder="part of a name" />
      </label>
      {states.length > 0 && <Choice name="State" value={state} of={states} onChange={change('state')} />}
      <Choice name="Engine" value={engine} of={known} onChange={change('engine')} />
      <label>
        Tenant <input value={tenant} onChange={change('tenant')} placeholder="any" size={10} />
      </label>
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

/** An engine that is gone may still be chosen. */
const Choice = ({ name, value, of, onChange }: ChoiceProps) => (
  <label>
    {name}{' '}
    <select value={value} onChange={onChange}>
      <option value="">any</option>
      {[...new Set([...of, ...(value === '' ? [] : [value])])].map((each) => (
        <option key={each} value={each}>
          {brief(each, 40)}
        </option>
      ))}
    </select>
  </label>
);

function Pages({ total, offset }: { readonly total: number; readonly offset: number }) {
  const page = pageNumber.value;
  if (total <= PAGE_ROWS && page === 0) return null;
  const last = Math.max(0, Math.ceil(total / PAGE_ROWS) - 1);
  const to = (next: number) => show({ page: next <= 0 ? '' : String(Math.min(next, last)) });
  return (
    <p class="choices">
      <button type="button" disabled={page === 0} onClick={() => to(page - 1)}>
        Previous
      </button>
      <button type="button" disabled={page >= last} onClick={() => to(page + 1)}>
        Next
      </button>
      <span class="quiet">
        {count(Math.min(offset + 1, total))} to {count(Math.min(offset + PAGE_ROWS, total))} of {count(total)}
      </span>
    </p>
  );
}
