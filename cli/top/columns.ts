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
  { title: 'TENANT', width: 10, rank: 8, align: 'left', text: ({ tenant }) => tenant },
  { title: 'STATE', width: 7, rank: 1, align: 'left', text: ({ state }) => state },
  { title: 'LVL', width: 3, rank: 2, sort: 'level', text: ({ level }) => String(level) },
  { ...time('WAITS', 4, 'current_wait_seconds'), text: waitsText },
  { title: 'FOR', width: 9, rank: 4, align: 'left', text: ({ current_wait_cause: cause }) => cause ?? '' },
  time('SERVICE', 3, 'attained_service_seconds'),
  time('WAITED', 9, 'waiting_seconds'),
  time('LONGEST', 13, 'longest_wait_seconds'),
  { title: 'ENGINE', width: 12, rank: 7, align: 'left', text: ({ engine }) => engine ?? '-' },
  count('CALLS', 5, 'calls'),
  count('ACTIVE', 11, 'active_calls'),
  count('PROMOTED', 14, 'promotions'),
  count('CONTEXT', 10, 'context_tokens'),
  count('PROMPT', 16, 'prompt_tokens'),
  count('CACHED', 17, 'cached_tokens'),
  { title: 'HITS', width: 4, rank: 6, text: (row) => shareText(row.cached_tokens, row.prompt_tokens) },
  count('OUTPUT', 15, 'output_tokens'),
  time('IDLE', 12, 'idle_seconds'),
  time('AGE', 10, 'age_seconds'),
];

/** What the table can be sorted by, in the order of its columns. */
export const SORT_KEYS: readonly string[] = COLUMNS.flatMap(({ sort }) => sort ?? []);

type TimeField = Extract<keyof ProgramRow, `${string}_seconds`>;
type CountField = Extract<keyof ProgramRow, `${string}_tokens`> | 'calls' | 'active_calls' | 'promotions';

function time(title: string, rank: number, sort: TimeField): Column {
  return { title, width: Math.max(6, title.length), rank, sort, text: (row) => timeText(row[sort]) };
}

/** Who waits must stand out. */
function waitsText({ current_wait_seconds: seconds }: ProgramRow): string {
  return seconds > 0 ? timeText(seconds) : '-';
}

function count(title: string, rank: number, sort: CountField): Column {
  return { title, width: Math.max(5, title.length), rank, sort, text: (row) => countText(row[sort]) };
}
