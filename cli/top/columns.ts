import { fitted, shortened, widthOf, wrapped } from '../text.js';
import { countText, shareText, timeText } from './figures.js';
import type { ProgramRow } from './snapshot.js';

interface Column {
  readonly title: string;
  readonly width: number;
  /** Columns with greater ranks give way first on narrow terminals. */
  readonly rank: number;
  readonly align?: 'left';
  /** Sort key of `GET /programs`; absent: the table cannot be sorted by it. */
  readonly sort?: string;
  readonly text: (row: ProgramRow) => string;
}

/** Columns whose titles do not say all. */
const LEGEND: readonly (readonly [title: string, meaning: string])[] = [
  [
    'WAITS',
    'the longest wait of a call now, and FOR what: window (the engine has as many calls as it takes), kv (no room in its KV cache), turn (calls ahead), knee (one more would slow all others); docs/INSPECT.md has the others',
  ],
  [
    'STATE',
    'run+wait: some calls run, others wait; hangs: calls run on an engine that is down; ending: ended, and its last calls wait or run; idle: no call',
  ],
  ['LVL', 'its queue: of calls that wait for room, 0 goes first, and bg, calls in the background, after all others'],
  ['SERVICE', 'engine time of its calls that have ended; CONTEXT: tokens of the last of these'],
  ['QUEUED', 'the waits of all its calls, so with parallel calls more than its AGE'],
  ['IDLE', 'since its last call; programs whose end nobody tells stay until their lease is over'],
];

/** Terms and their meanings in two columns. */
export function legend(width: number, more: typeof LEGEND = []): string[] {
  return [...more, ...LEGEND].flatMap(([term, meaning]) =>
    wrapped(meaning, width - TERM_WIDTH).map((line, at) => (at === 0 ? term : '').padEnd(TERM_WIDTH) + line),
  );
}

const TERM_WIDTH = 9;

/** Behind the program's name, which takes what they leave. The same as on the page. */
const COLUMNS: readonly Column[] = [
  { title: 'TENANT', width: 10, rank: 4, align: 'left', text: ({ tenant = '' }) => tenant },
  { title: 'STATE', width: 8, rank: 1, align: 'left', text: stateText },
  // Who waits must stand out.
  {
    ...time('WAITS', 2, 'current_wait_seconds'),
    text: ({ current_wait_seconds: wait = 0 }) => (wait > 0 ? timeText(wait) : '-'),
  },
  { title: 'FOR', width: 10, rank: 4, align: 'left', text: causeText },
  { title: 'LVL', width: 3, rank: 3, sort: 'level', text: (row) => (row.background ? 'bg' : countText(row.level)) },
  time('QUEUED', 11, 'waiting_seconds'),
  time('SERVICE', 6, 'attained_service_seconds'),
  { title: 'ENGINE', width: 12, rank: 5, align: 'left', text: ({ engine }) => engine ?? '-' },
  count('ACTIVE', 13, 'active_calls'),
  count('CALLS', 7, 'calls'),
  count('CONTEXT', 14, 'context_tokens'),
  { title: 'CACHED', width: 6, rank: 9, text: (row) => shareText(row.cached_tokens, row.prompt_tokens) },
  { ...time('IDLE', 6, 'idle_seconds'), text: (row) => (row.state === 'idle' ? timeText(row.idle_seconds) : '-') },
  time('AGE', 12, 'age_seconds'),
  { title: 'GATEWAY', width: 12, rank: 8, align: 'left', text: ({ gateway }) => gateway ?? '-' },
];

const KEYS = new Map(COLUMNS.flatMap(({ title, sort }) => (sort === undefined ? [] : [[title.toLowerCase(), sort]])));
export const SORT_KEYS: readonly string[] = [...KEYS.values()];
export const SORT_TITLES: readonly string[] = [...KEYS.keys()];
/** The key of a column's title in small letters, also with a minus sign. */
export const sortKeyOf = (name: string): string => name.replace(/[a-z_]+/, (word) => KEYS.get(word) ?? word);

/** Columns of rank up to this one may take from the name's width. */
const TELLING_RANK = 4;
const NAME_WIDTH_MIN = 12;
/** Beyond this a name takes no room from other columns. */
const NAME_WIDTH_WANTED = 23;

/** The titles, and a line for each row, each as wide as asked. @param sort key of the column, which always shows */
export function tableLines(rows: readonly ProgramRow[], sort: string, width: number): string[] {
  const key = sort.replace('-', '');
  const columns = columnsFor(rows, key, width);
  const left = width - columns.reduce((sum, column) => sum + column.width + 1, 0);
  const name = Math.min(left, Math.max(NAME_WIDTH_WANTED, ...rows.map(({ id }) => widthOf(id))));
  const line = (id: string, textOf: (column: Column) => string): string =>
    fitted(shortened(id, name), name) +
    columns
      .map((column) => ` ${fitted(shortened(textOf(column), column.width), column.width, column.align ?? 'right')}`)
      .join('');
  const arrow = sort === key ? '▴' : '▾';
  const titles = line('PROGRAM', ({ title, sort: own }) => (own === key ? arrow + title : title));
  return [titles, ...rows.map((row) => line(row.id, ({ text }) => text(row)))];
}

function columnsFor(rows: readonly ProgramRow[], key: string, width: number): readonly Column[] {
  const hidden = [
    ...(rows.some(({ tenant }) => tenant !== 'default') ? [] : ['TENANT']),
    ...(rows.some(({ gateway }) => (gateway ?? null) !== null) ? [] : ['GATEWAY']),
  ];
  const isSorted = ({ sort }: Column): boolean => sort === key;
  // The title of the column that the table is sorted by has an arrow.
  const sized = COLUMNS.filter(({ title }) => !hidden.includes(title)).map((column) =>
    isSorted(column) ? { ...column, width: Math.max(column.width, column.title.length + 1) } : column,
  );
  const wanted = Math.max(NAME_WIDTH_MIN, ...rows.map(({ id }) => Math.min(NAME_WIDTH_WANTED, widthOf(id))));
  const ranked = sized.toSorted((a, b) => Number(isSorted(b)) - Number(isSorted(a)) || a.rank - b.rank);
  const taken = new Set<Column>();
  let left = width;
  for (const column of ranked) {
    const name = column.rank <= TELLING_RANK || isSorted(column) ? NAME_WIDTH_MIN : wanted;
    if (left - column.width - 1 < name) continue;
    left -= column.width + 1;
    taken.add(column);
  }
  return sized.filter((column) => taken.has(column));
}

function time(title: string, rank: number, sort: Extract<keyof ProgramRow, `${string}_seconds`>): Column {
  return { title, width: Math.max(6, title.length), rank, sort, text: (row) => timeText(row[sort]) };
}

function count(title: string, rank: number, sort: 'context_tokens' | 'calls' | 'active_calls'): Column {
  return { title, width: Math.max(5, title.length), rank, sort, text: (row) => countText(row[sort]) };
}

function causeText({ current_wait_cause: cause }: ProgramRow): string {
  return cause?.replace('no_', 'an ') ?? '';
}

/** Some of a program's calls may wait while others run, or hang on an engine that is down. */
function stateText({ state = 'idle', current_wait_seconds: waits = 0, engines_down: down = [] }: ProgramRow): string {
  return down.length > 0 ? 'hangs' : state === 'running' && waits > 0 ? 'run+wait' : state;
}
