import type { EndedProgram, Program, ProgramGroup } from '../sidecar/admin/answers.js';
import { Choices } from './command.js';
import { brief, clock, count, counted, dated, duration, percent, ratio, tokens } from './format.js';
import {
  GROUPED_BY,
  PAGE_ROWS,
  ended,
  engines,
  groupedBy,
  groups,
  pageNumber,
  programs,
  show,
  view,
  type View,
} from './state.js';
import { Table, type Column, type Entry, type TableProps } from './table.js';
import { inOrder, sortOf } from './select.js';
import { MEANINGS, UNANSWERED, levelOf, nameOf, namedBy, stateOf, typeHint, typeName } from './words.js';

/** Without the organisation before a slash: there is room for one of the two. */
const MODEL: Column<Pick<Program, 'model'>> = {
  name: 'Model',
  cell: ({ model }) => model?.split('/').at(-1) ?? '–',
  hint: ({ model }) => model ?? 'not known here',
  isText: true,
  isKind: true,
};
const TENANT: Column<Pick<Program, 'tenant'>> = {
  name: 'Tenant',
  cell: ({ tenant }) => tenant,
  isText: true,
  isKind: true,
};

const COLUMNS: readonly Column<Program>[] = [
  {
    name: 'State',
    meaning: 'Of an idle one, with the time since its last call ended',
    sort: 'idle_seconds',
    cell: stateOf,
    hint: ({ engines_down: down }) => down.map((id) => `${id} is down`).join(', '),
    isText: true,
  },
  { name: 'Waits', sort: 'current_wait_seconds', cell: waitOf },
  { name: 'For', meaning: 'Cause of its longest wait now', cell: causeOf, isText: true },
  TENANT,
  { name: 'Level', meaning: MEANINGS.level, sort: 'level', cell: levelOf },
  {
    name: 'Queued',
    meaning: 'The waits of all its calls together',
    sort: 'waiting_seconds',
    from: 'desk',
    cell: (row) => duration(row.waiting_seconds),
  },
  {
    name: 'Service',
    meaning: MEANINGS.service,
    sort: 'attained_service_seconds',
    cell: (row) => duration(row.attained_service_seconds),
  },
  { name: 'Engine', cell: (row) => row.engine ?? '–', isText: true },
  {
    name: 'Type',
    meaning: MEANINGS.type,
    cell: (row) => typeName(row.agent_type),
    hint: (row) => typeHint(row.agent_type),
    from: 'large',
    isText: true,
    isKind: true,
  },
  { ...MODEL, from: 'large' },
  { name: 'Calls', sort: 'calls', cell: (row) => count(row.calls) },
  { name: 'Context', sort: 'context_tokens', cell: (row) => tokens(row.context_tokens), from: 'large' },
  { name: 'Cached', cell: (row) => percent(ratio(row.cached_tokens, row.prompt_tokens)), from: 'large' },
  { name: 'Age', sort: 'age_seconds', from: 'desk', cell: (row) => duration(row.age_seconds) },
  { name: 'Gateway', cell: (row) => row.gateway ?? '–', isText: true, isKind: true },
];

const ENDED: readonly Column<EndedProgram>[] = [
  { name: 'Ended', sort: 'ended_at', cell: (row) => clock(row.ended_at) },
  { name: 'Took', sort: 'duration_seconds', cell: (row) => duration(row.duration_seconds) },
  { name: 'Why ended', cell: ({ answered, why }) => (answered ? why : `no answer; ${why}`), isText: true },
  { name: 'Engine', cell: (row) => row.engine ?? '–', isText: true },
  {
    name: 'Queued, %',
    meaning: 'Share of the time of its calls',
    from: 'desk',
    cell: (row) => percent(ratio(row.queue_seconds, row.calls_seconds)),
  },
  TENANT,
  { name: 'Calls', sort: 'calls', from: 'desk', cell: (row) => count(row.calls) },
  MODEL,
];

const GROUPS: readonly Column<ProgramGroup>[] = [
  { name: 'Programs', cell: (row) => count(row.programs + row.ended) },
  { name: 'Present', cell: (row) => count(row.programs) },
  { name: 'Waiting', cell: (row) => count(row.waiting) },
  { name: 'Running', cell: (row) => count(row.running) },
  { name: 'Waits', meaning: 'The longest wait of a call now', cell: waitOf },
  { name: 'Calls', cell: (row) => count(row.calls) },
  { name: 'Prompts', meaning: 'Prompt tokens', from: 'desk', cell: (row) => tokens(row.prompt_tokens) },
  { name: 'Answers', meaning: 'Output tokens', from: 'desk', cell: (row) => tokens(row.output_tokens) },
  {
    name: 'Queue a call',
    meaning: 'Mean wait of its calls',
    cell: (row) => duration(ratio(row.queue_seconds, row.calls)),
  },
  { name: 'Service', meaning: MEANINGS.service, cell: (row) => duration(row.service_seconds) },
];

function waitOf({ current_wait_seconds: seconds }: Pick<Program, 'current_wait_seconds'>): string {
  return seconds > 0 ? duration(seconds) : '–';
}

function causeOf({ current_wait_cause: cause }: Program): string {
  return cause === 'kv' ? 'KV cache' : (cause?.replace('no_', 'an ') ?? '');
}

const TABS: Readonly<Record<string, string>> = {
  '': 'Present',
  ended: 'Ended',
  ...Object.fromEntries(Object.entries(GROUPED_BY).map(([by, name]) => [by, `By ${name.toLowerCase()}`])),
};

export function Programs() {
  const tab = Object.hasOwn(TABS, view.value.tab) ? view.value.tab : '';
  return (
    <section aria-labelledby="programs">
      <h2 id="programs">Programs</h2>
      <Choices names={TABS} now={tab} choose={(name) => show({ tab: name, sort: '', state: '', page: '' })} />
      {tab === 'ended' ? <Ended /> : groupedBy.value === '' ? <Present /> : <Groups by={groupedBy.value} />}
    </section>
  );
}

interface ListProps<Row> extends Omit<TableProps<Row>, 'empty'> {
  /** Of all parts. */
  readonly total: number;
  readonly offset: number;
  readonly found?: string;
  readonly states?: readonly string[];
  /** Where nothing was chosen. */
  readonly none?: string;
}

/** A part of a long table, and what selects its rows. */
function List<Row>({
  total,
  offset,
  found = counted(total, 'program'),
  states = STATES,
  none = NO_CALL,
  ...table
}: ListProps<Row>) {
  const { text, state, engine, tenant, model, agent_type: type, identified_by: source } = view.value;
  const isFiltered = `${text}${state}${engine}${tenant}${model}${type}${source}` !== '';
  return (
    <>
      <Filters found={found} states={states} />
      <Table
        {...table}
        empty={total > 0 ? 'The table has become shorter.' : isFiltered ? 'No program matches.' : none}
      />
      <Pages total={total} offset={offset} />
    </>
  );
}

const STATES = ['active', 'waiting', 'ending', 'running', 'idle'];
const NO_CALL = 'No program is present: give an agent the address of this gateway, with /v1, as its base URL.';
const NO_END =
  'None yet: a program ends when its client says so, or by its lease. Completed ones (answered, and not called for a minute) are present until then.';

/** Leads to the program's own page. An id may end several times. */
const entryOf = (
  row: Pick<Program, 'id' | 'key' | 'agent_type' | 'identified_by'> &
    Partial<Pick<Program, 'state' | 'engines_down'>> & { readonly ended_at?: number },
): Entry => ({
  key: `${row.key} ${row.ended_at}`,
  name: nameOf(row),
  title: `${row.id}, ${namedBy(row)}`,
  change: { program: row.key },
  state: row.engines_down?.length ? 'hung' : row.state,
});

function Present() {
  const { programs: rows = [], total = 0, offset = 0 } = programs.value ?? {};
  return (
    <List label="Present programs" first="Program" columns={COLUMNS} {...{ entry: entryOf, rows, total, offset }} />
  );
}

function Ended() {
  const all = inOrder(ended.value?.programs ?? [], sortOf(view.value));
  const offset = PAGE_ROWS * pageNumber.value;
  const rows = all.slice(offset, offset + PAGE_ROWS);
  const lost = all.filter(({ answered }) => !answered).length;
  const found = counted(all.length, 'program') + (lost > 0 ? `, ${count(lost)} of which ${UNANSWERED}` : '');
  return (
    <List
      label="Ended programs"
      first="Program"
      entry={entryOf}
      columns={ENDED}
      {...{ rows, total: all.length, offset, found }}
      states={[]}
      none={NO_END}
    />
  );
}

/** Who uses the gateway? A click shows the programs of one group. */
function Groups({ by }: { readonly by: string }) {
  const {
    groups: rows = [],
    total = 0,
    offset = 0,
    ended_since: since = null,
  } = groups.value?.by === by ? groups.value : {};
  const isType = by === 'agent_type';
  const entry = ({ name, programs: present }: ProgramGroup): Entry => ({
    key: String(name),
    name: isType ? typeName(name) : (name ?? '–'),
    title: isType ? typeHint(name) : (name ?? 'not known here'),
    change: name === null ? undefined : { [by]: name, tab: present > 0 ? '' : 'ended', page: '' },
  });
  const past =
    since === null || view.value.state !== '' ? '' : `, and of those that ended since ${dated(since)} (500 at most)`;
  return (
    <List
      label="Groups of programs"
      first={GROUPED_BY[by] ?? ''}
      found={`${counted(total, 'group')} of present programs${past}`}
      columns={GROUPS}
      {...{ entry, rows, total, offset }}
    />
  );
}

function Filters({ found, states }: { readonly found: string; readonly states: readonly string[] }) {
  const { text, state, engine } = view.value;
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
      {/* Chosen by a click on a group. */}
      {(Object.entries(GROUPED_BY) as ['tenant', string][])
        .filter(([by]) => view.value[by] !== '')
        .map(([by, name]) => (
          <Choice key={by} name={name} value={view.value[by]} of={[]} onChange={change(by)} />
        ))}
      <span class="quiet">{found}</span>
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
          {brief(name === 'Type' ? typeName(each) : each, 40)}
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
