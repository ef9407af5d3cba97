import { z } from 'zod';
import { parsePrometheus } from '../../sidecar/engines/prometheus.js';
import { printable } from '../text.js';

/**
 * Answers of the admin API, as far as they are shown. Names arrive printable. A figure that this gateway's version lacks
 * counts as 0 or unknown, so that `top` works across versions.
 */
const name = z.string().transform(printable);
const figure = z.number().catch(0);
const known = z.number().nullish().catch(null);

const program = z.object({
  id: name,
  tenant: name,
  /** For requests: as the gateway wrote it. */
  key: z.string(),
  level: figure,
  attained_service_seconds: figure,
  waiting_seconds: figure,
  longest_wait_seconds: figure,
  engine: name.nullable().catch(null),
  engines: z.array(name).catch([]),
  active_calls: figure,
  calls: figure,
  promotions: figure,
  context_tokens: figure,
  prompt_tokens: figure,
  cached_tokens: figure,
  output_tokens: figure,
  age_seconds: figure,
  idle_seconds: figure,
});

const call = z.object({
  call: name,
  state: name,
  level: figure,
  model: name.catch(''),
  engine: name.nullable().catch(null),
  waiting_seconds: figure,
  service_seconds: figure,
  waiting_for: z.object({ cause: name }).nullish().catch(null),
});

const detail = program.extend({
  threads: z.array(z.object({ thread: name, calls: figure, active: z.array(call).catch([]) })).catch([]),
});

const engine = z.object({
  id: name,
  state: name,
  window: known,
  in_flight: figure,
  working_set_tokens: figure,
  capacity_tokens: known,
  /** Of the prompts of the last minutes. */
  cached_share: known,
  resting: z.boolean().catch(false),
});

const queue = z.object({
  waiting: figure,
  limit: figure,
  longest_wait_seconds: figure,
  levels: z.array(z.object({ level: figure, waiting: figure })).catch([]),
});

const config = z.object({
  policy: z.object({ name }),
  admission: z.object({ gate: z.number().catch(0) }),
});

export type ProgramRow = z.output<typeof program>;
export type ProgramDetail = z.output<typeof detail>;
export type EngineRow = z.output<typeof engine>;
export type QueueRow = z.output<typeof queue>;

export const readPrograms = (answer: unknown) => z.object({ programs: z.array(program), total: z.number() }).parse(answer); // prettier-ignore
/** The gateway's words on why the program's calls wait or run where they run, by paragraph. */
export const readWhy = (answer: unknown) =>
  z.object({ text: z.string() }).parse(answer).text.split('\n').map(printable);
export const readDetail = (answer: unknown) => detail.parse(answer);
export const readEngines = (answer: unknown) => z.object({ engines: z.array(engine) }).parse(answer).engines;
export const readQueue = (answer: unknown) => queue.parse(answer);
export const readConfig = (answer: unknown) => config.parse(answer);

/** Counters since the gateway's start. */
export interface Totals {
  readonly startedAtSeconds: number;
  readonly calls: number;
  readonly programs: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly promotions: number;
}

const SERIES = {
  startedAtSeconds: 'process_start_time_seconds',
  calls: 'maitred_calls_ended_total',
  programs: 'maitred_programs_ended_total',
  promptTokens: 'maitred_prompt_tokens_total',
  cachedTokens: 'maitred_prompt_tokens_cached_total',
  promotions: 'maitred_starvation_promotions_total',
} as const satisfies Record<keyof Totals, string>;
const SERIES_NAMES: ReadonlySet<string> = new Set(Object.values(SERIES));

export function readTotals(metrics: string): Totals {
  const samples = parsePrometheus(metrics, SERIES_NAMES);
  const sum = (series: string) => (samples.get(series) ?? []).reduce((total, { value }) => total + value, 0);
  const entries = Object.entries(SERIES).map(([field, series]) => [field, sum(series)]);
  return Object.fromEntries(entries) as Record<keyof Totals, number>;
}
