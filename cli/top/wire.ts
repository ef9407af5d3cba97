import { z } from 'zod';
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
  state: name.catch(''),
  level: figure,
  attained_service_seconds: figure,
  waiting_seconds: figure,
  longest_wait_seconds: figure,
  current_wait_seconds: figure,
  current_wait_cause: name.nullish().catch(null),
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
  gate_tokens: known,
  capacity_tokens: known,
  /** Of the prompts of the last minutes. */
  cached_share: known,
  resting: z.boolean().catch(false),
});

const queue = z.object({
  waiting: figure,
  limit: figure,
  longest_wait_seconds: figure,
  waiting_for: z.record(name, figure).catch({}),
  levels: z.array(z.object({ level: figure, waiting: figure })).catch([]),
});

const gateway = z.object({
  policy: name,
  /** Changes with every start. */
  instance: z.string(),
  started_at: figure,
  draining: z.boolean().catch(false),
  /** Of the demo fleet under way. */
  demo_programs: z.object({ ended: z.number(), total: z.number() }).nullish().catch(null),
});

const totals = z.object({
  window_seconds: figure,
  program_completion_seconds: z.object({ count: figure }),
  queue_seconds: z.object({ count: figure }),
  cached_share: known,
  promoted_calls: figure,
  steps: z.object({ from: figure }),
});

export type ProgramRow = z.output<typeof program>;
export type ProgramDetail = z.output<typeof detail>;
export type EngineRow = z.output<typeof engine>;
export type QueueRow = z.output<typeof queue>;
export type GatewayRow = z.output<typeof gateway>;
/** Of the last minutes. */
export type Totals = z.output<typeof totals>;

export const readPrograms = (answer: unknown) => z.object({ programs: z.array(program), total: z.number() }).parse(answer); // prettier-ignore
/** The gateway's words on why the program's calls wait or run where they run, by paragraph. */
export const readWhy = (answer: unknown) =>
  z.object({ text: z.string() }).parse(answer).text.split('\n').map(printable);
export const readDetail = (answer: unknown) => detail.parse(answer);
export const readEngines = (answer: unknown) => z.object({ engines: z.array(engine) }).parse(answer).engines;
export const readQueue = (answer: unknown) => queue.parse(answer);
export const readGateway = (answer: unknown) => gateway.parse(answer);
export const readTotals = (answer: unknown) => totals.parse(answer);
