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

/** Running if any of its calls runs. */
export const stateOf = ({ active_calls: active, engines }: ProgramRow): 'run' | 'wait' | 'idle' =>
  active === 0 ? 'idle' : engines.length > 0 ? 'run' : 'wait';

/** Behind the program's name, which takes what they leave. */
export const COLUMNS: readonly Column[] = [
  { title: 'TENANT', width: 10, rank: 7, align: 'left', text: ({ tenant }) => tenant },
  { title: 'STATE', width: 5, rank: 1, align: 'left', text: stateOf },
  { title: 'LVL', width: 3, rank: 2, sort: 'level', text: ({ level }) => String(level) },
  time('SERVICE', 3, 'attained_service_seconds'),
  time('WAITED', 4, 'waiting_seconds'),
  time('LONGEST', 12, 'longest_wait_seconds'),
  { title: 'ENGINE', width: 12, rank: 6, align: 'left', text: ({ engine }) => engine ?? '-' },
  count('CALLS', 5, 'calls'),
  count('ACTIVE', 10, 'active_calls'),
  count('PROMOTED', 13, 'promotions'),
  count('CONTEXT', 9, 'context_tokens'),
  count('PROMPT', 15, 'prompt_tokens'),
  count('CACHED', 16, 'cached_tokens'),
  { title: 'HITS', width: 4, rank: 8, text: (row) => shareText(row.cached_tokens, row.prompt_tokens) },
  count('OUTPUT', 14, 'output_tokens'),
  time('IDLE', 11, 'idle_seconds'),
  time('AGE', 9, 'age_seconds'),
];

/** What the table can be sorted by, in the order of its columns. */
export const SORT_KEYS: readonly string[] = COLUMNS.flatMap(({ sort }) => sort ?? []);

type TimeField = Extract<keyof ProgramRow, `${string}_seconds`>;
type CountField = Extract<keyof ProgramRow, `${string}_tokens`> | 'calls' | 'active_calls' | 'promotions';

function time(title: string, rank: number, sort: TimeField): Column {
  return { title, width: Math.max(6, title.length), rank, sort, text: (row) => timeText(row[sort]) };
}

function count(title: string, rank: number, sort: CountField): Column {
  return { title, width: Math.max(5, title.length), rank, sort, text: (row) => countText(row[sort]) };
}
