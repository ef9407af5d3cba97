import { countText, shareText, timeText } from './figures.js';
import type { ProgramRow } from './wire.js';

/** A column of the process table. */
export interface Column {
  readonly title: string;
  readonly width: number;
  /** Columns with greater ranks give way first on narrow terminals. */
  readonly rank: number;
  readonly align?: 'left';
  /** Sort key of `GET /programs`; absent: the table cannot be sorted by it. */
  readonly sort?: string;
  readonly text: (row: ProgramRow) => string;
}

/** Behind the program's name, which takes what they leave. */
export const COLUMNS: readonly Column[] = [
  { title: 'TENANT', width: 10, rank: 9, align: 'left', text: ({ tenant }) => tenant },
  { title: 'STATE', width: 8, rank: 1, align: 'left', text: stateText },
  { title: 'LVL', width: 3, rank: 2, sort: 'level', text: ({ level }) => String(level) },
  { ...time('WAITS', 4, 'current_wait_seconds'), text: waitsText },
  { title: 'FOR', width: 9, rank: 4, align: 'left', text: ({ current_wait_cause: cause }) => cause ?? '' },
  time('SERVICE', 3, 'attained_service_seconds'),
  { ...time('IDLE', 5, 'idle_seconds'), text: idleText },
  time('QUEUED', 10, 'waiting_seconds'),
  time('LONGEST', 13, 'longest_wait_seconds'),
  { title: 'ENGINE', width: 12, rank: 8, align: 'left', text: ({ engine }) => engine ?? '-' },
  count('CALLS', 6, 'calls'),
  count('ACTIVE', 12, 'active_calls'),
  count('PROMOTED', 14, 'promotions'),
  count('CONTEXT', 12, 'context_tokens'),
  count('PROMPT', 16, 'prompt_tokens'),
  count('CACHED', 17, 'cached_tokens'),
  { title: 'HITS', width: 4, rank: 7, text: (row) => shareText(row.cached_tokens, row.prompt_tokens) },
  count('OUTPUT', 15, 'output_tokens'),
  time('AGE', 11, 'age_seconds'),
];

/** What the table can be sorted by, in the order of its columns. */
export const SORT_KEYS: readonly string[] = COLUMNS.flatMap(({ sort }) => sort ?? []);

type TimeField = Extract<keyof ProgramRow, `${string}_seconds`>;
type CountField = Extract<keyof ProgramRow, `${string}_tokens`> | 'calls' | 'active_calls' | 'promotions';

function time(title: string, rank: number, sort: TimeField): Column {
  return { title, width: Math.max(6, title.length), rank, sort, text: (row) => timeText(row[sort]) };
}

/** Some of a program's calls may wait while others run. */
function stateText({ state, current_wait_seconds: waits }: ProgramRow): string {
  return state === 'running' && waits > 0 ? 'run+wait' : state;
}

/** Who waits must stand out. */
function waitsText({ current_wait_seconds: seconds }: ProgramRow): string {
  return seconds > 0 ? timeText(seconds) : '-';
}

function idleText({ state, idle_seconds: seconds }: ProgramRow): string {
  return state === 'idle' ? timeText(seconds) : '-';
}

function count(title: string, rank: number, sort: CountField): Column {
  return { title, width: Math.max(5, title.length), rank, sort, text: (row) => countText(row[sort]) };
}
