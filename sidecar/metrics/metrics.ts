import { Counter, Registry, collectDefaultMetrics } from 'prom-client';
import type { Dispatch, EngineId, ProgramGone, TenantId } from '../../src/index.js';
import type { Observer } from '../calls/observers.js';
import { OUTCOMES, type CallReport, type CallSpec, type FailureCause, type Outcome } from '../calls/spec.js';
import type { ErrorCode } from '../errors.js';
import type { Completions } from './completions.js';
import { Histogram } from './histogram.js';
import { scrapedInto } from './scraped.js';
import { Sums, type Sum } from './sums.js';

/** Seconds, from a millisecond to the hours that agent programs take: 1, 2.5, 5 and so on. */
const BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000,
  10_000,
];

/** Fewer, as each engine has a series of each. */
const FIRST_TOKEN_BUCKETS = BUCKETS.filter((seconds) => seconds >= 0.05 && seconds <= 100);

/** Gauges of prom-client whose names end in `_total`, as only a counter's may. Each is the sum of one that stays. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Refusals for lack of room, which alerts watch. */
const NO_ROOM = ['queue_full', 'overloaded', 'bodies_full', 'no_engine'] satisfies ErrorCode[];

const failure = (cause: FailureCause): Sum => [
  'engine_failures_total',
  'Attempts that the engine failed or had no room for, by cause.',
  { cause },
];

const ENGINE_SUMS = {
  dispatches: ['engine_dispatches_total', 'Attempts of calls on the engine.'],
  unreached: failure('unreached'),
  transport: failure('transport'),
  answer: failure('answer'),
  busy: failure('busy'),
  passed: ['passthrough_requests_total', 'Requests passed through unscheduled, by engine.'],
  promptTokens: ['engine_prompt_tokens_total', 'Prompt tokens that the engine counted.'],
  cachedTokens: ['engine_prompt_tokens_cached_total', 'Prompt tokens that the engine had in its prefix cache.'],
  outputTokens: ['engine_output_tokens_total', 'Tokens that the engine generated.'],
} as const satisfies Record<string, Sum>;

const ended = (outcome: Outcome): Sum => [
  'tenant_calls_ended_total',
  'Accepted calls of the tenant that have ended, by outcome.',
  { outcome },
];

const TENANT_SUMS = {
  ...(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, ended(outcome)])) as Record<Outcome, Sum>),
  accepted: ['tenant_calls_accepted_total', 'Calls of the tenant that the scheduler took in.'],
  rejected: ['tenant_calls_rejected_total', 'Calls of the tenant that were refused on arrival.'],
  queueSeconds: ['tenant_queue_seconds_total', 'Time that ended calls of the tenant had waited.'],
  serviceSeconds: ['tenant_service_seconds_total', 'Time from the last dispatch to the end of the tenant’s calls.'],
  promptTokens: ['tenant_prompt_tokens_total', 'Prompt tokens of the tenant.'],
  cachedTokens: ['tenant_prompt_tokens_cached_total', 'Prompt tokens of the tenant that engines had cached.'],
  outputTokens: ['tenant_output_tokens_total', 'Tokens generated for the tenant.'],
} as const satisfies Record<string, Sum>;

/** By which engines of several models are scaled apart. */
const MODEL_SUMS = {
  accepted: ['model_calls_accepted_total', 'Calls for the model that the scheduler took in.'],
  ended: ['model_calls_ended_total', 'Of these, those that have ended.'],
} as const satisfies Record<string, Sum>;
const MODELS_MAX = 200;

interface OfCall {
  readonly spec: Pick<CallSpec, 'tenant' | 'facts'>;
}
type Tokens = Record<'promptTokens' | 'cachedTokens' | 'outputTokens', number>;

export interface MetricsPorts {
  readonly completions: Completions;
  /** Whether the fleet has the engine; counters of one that is gone go with it. */
  readonly hasEngine: (id: EngineId) => boolean;
  readonly tenantsMax: () => number;
}

/**
 * Counters of the gateway, described in docs/METRICS.md. Names begin with `maitred_` and end in their base unit. Labels
 * are bounded: outcomes, error codes, levels, engines and a limited number of tenants, never programs or values from
 * clients. Gauges read from the scheduler during a scrape are in `gauges.ts`.
 *
 * Accepted calls = ended calls of all outcomes + calls in the system, at any moment.
 */
export class Metrics implements Observer {
  readonly registry = new Registry();
  readonly #accepted = this.#counter('calls_accepted_total', 'Calls that the scheduler took in.');
  readonly #ended = this.#counter('calls_ended_total', 'Accepted calls that have ended, by outcome.', 'outcome');
  readonly #left = this.#counter('calls_given_up_total', 'Cancelled calls, by whether they waited or ran.', 'state');
  readonly #rejected = this.#counter(
    'calls_rejected_total',
    'Calls that were refused on arrival, by error code.',
    'code',
  );
  readonly #retries = this.#counter('call_retries_total', 'Dispatches of a call after its first.');
  readonly #comments = this.#counter('queue_comments_total', 'SSE comments sent to streaming calls that waited.');
  readonly #prompt = this.#counter('prompt_tokens_total', 'Prompt tokens, as engines counted them.');
  readonly #cached = this.#counter('prompt_tokens_cached_total', 'Prompt tokens that engines had cached.');
  readonly #output = this.#counter('output_tokens_total', 'Tokens generated.');
  readonly #programsEnded = this.#counter('programs_ended_total', 'Programs that left the table, by cause.', 'cause');
  readonly #queue = this.#histogram('queue_seconds', 'Time in the queue at a dispatch, by level.', { label: 'level' });
  readonly #ttft = this.#histogram('ttft_seconds', 'Arrival to the first event of a streamed answer.');
  readonly #service = this.#histogram('service_seconds', 'Last dispatch to the end of a completed call.');
  readonly #call = this.#histogram('call_seconds', 'Arrival to the end of a completed call.');
  readonly #spans = this.#counter('trace_spans_total', 'Spans for the tracing collector, by result.', 'result');
  readonly #firstTokens: Histogram;
  readonly #engines: Sums<keyof typeof ENGINE_SUMS>;
  readonly tenants: Sums<keyof typeof TENANT_SUMS>;
  readonly #models: Sums<keyof typeof MODEL_SUMS>;

  constructor(ports: MetricsPorts) {
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    const corrections = this.#counter(
      'program_corrections_total',
      'Programs that went on after they counted as complete.',
    );
    const seconds = this.#histogram(
      'program_completion_seconds',
      'A program’s first arrival to its last answer, once it has been idle for a minute.',
      { collect: () => ports.completions.count() },
    );
    const unanswered = this.#counter(
      'programs_unanswered_total',
      'Programs whose last call was not answered, once idle for a minute.',
    );
    ports.completions.add({
      counted: (each) => seconds.observe(each),
      unanswered: () => unanswered.inc(),
      corrected: (more) => {
        seconds.correct(more);
        corrections.inc();
      },
    });
    const scraped = scrapedInto(this.registry);
    const stays = (id: string) => ports.hasEngine(id as EngineId);
    this.#firstTokens = this.#histogram(
      'engine_first_token_seconds',
      'Dispatch to the first event of a streamed answer, background calls aside.',
      { label: 'engine', stays },
      FIRST_TOKEN_BUCKETS,
    );
    this.#engines = new Sums(scraped, 'engine', ENGINE_SUMS, { stays, rowsMax: () => Infinity });
    this.#models = new Sums(scraped, 'model', MODEL_SUMS, { stays: () => true, rowsMax: () => MODELS_MAX });
    this.tenants = new Sums(scraped, 'tenant', TENANT_SUMS, { stays: () => true, rowsMax: ports.tenantsMax });
    for (const outcome of OUTCOMES) this.#ended.inc({ outcome }, 0);
    // From 0 on: a rate does not see a series that begins with its first increments.
    for (const state of ['waiting', 'running']) this.#left.inc({ state }, 0);
    for (const result of ['exported', 'dropped', 'failed']) this.#spans.inc({ result }, 0);
    for (const code of NO_ROOM) this.#rejected.inc({ code }, 0);
    for (const cause of ['ended', 'expired', 'evicted']) this.#programsEnded.inc({ cause }, 0);
  }

  accepted({ spec }: OfCall): void {
    this.#accepted.inc();
    this.#models.of(spec.facts.model).accepted += 1;
    this.tenants.of(spec.tenant).accepted += 1;
  }

  /** Lines of batches are asked again until they have an answer: no client is refused. */
  refused({ tenant, line }: Pick<CallSpec, 'tenant' | 'line'>, code: ErrorCode): void {
    if (line === undefined) this.rejected(code, tenant);
  }

  /** @param tenant absent: its key is that of none */
  rejected(code: ErrorCode, tenant?: TenantId): void {
    this.#rejected.inc({ code });
    if (tenant !== undefined) this.tenants.of(tenant).rejected += 1;
  }

  dispatched(_spec: unknown, dispatch: Dispatch, isRetry: boolean): void {
    this.#queue.observe(dispatch.queueMs / 1000, dispatch.level);
    this.#engines.of(dispatch.engine).dispatches += 1;
    if (isRetry) this.#retries.inc();
  }

  began(engine: EngineId, firstTokenMs: number): void {
    this.#firstTokens.observe(firstTokenMs / 1000, engine);
  }

  engineFailed(_spec: unknown, engine: EngineId, cause: FailureCause): void {
    this.#engines.of(engine)[cause] += 1;
  }

  commented(): void {
    this.#comments.inc();
  }

  ended({ spec }: OfCall, report: CallReport): void {
    const { outcome, ttftMs, serviceMs, durationMs } = report;
    this.#ended.inc({ outcome });
    if (outcome === 'cancelled') this.#left.inc({ state: report.wasRunning ? 'running' : 'waiting' });
    this.#models.of(spec.facts.model).ended += 1;
    if (ttftMs !== undefined) this.#ttft.observe(ttftMs / 1000);
    const row = this.tenants.of(spec.tenant);
    row[outcome] += 1;
    row.queueSeconds += report.queueMs / 1000;
    row.serviceSeconds += (serviceMs ?? 0) / 1000;
    this.#used(report, row);
    if (outcome !== 'completed') return;
    if (serviceMs !== undefined) this.#service.observe(serviceMs / 1000);
    this.#call.observe(durationMs / 1000);
  }

  passedThrough(engine: string): void {
    this.#engines.of(engine).passed += 1;
  }

  programGone({ cause }: ProgramGone): void {
    this.#programsEnded.inc({ cause });
  }

  /** @param result `dropped`: the queue was full; `failed`: the collector did not take them */
  traced(result: 'exported' | 'dropped' | 'failed', spans: number): void {
    this.#spans.inc({ result }, spans);
  }

  #used({ usage, dispatch }: CallReport, tenant: Tokens): void {
    if (usage === undefined) return;
    const { promptTokens, cachedTokens = 0, outputTokens } = usage;
    this.#prompt.inc(promptTokens);
    this.#cached.inc(cachedTokens);
    this.#output.inc(outputTokens);
    const rows = dispatch === undefined ? [tenant] : [tenant, this.#engines.of(dispatch.engine)];
    for (const row of rows) {
      row.promptTokens += promptTokens;
      row.cachedTokens += cachedTokens;
      row.outputTokens += outputTokens;
    }
  }

  #counter<L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> {
    return new Counter({ name: `maitred_${name}`, help, labelNames, registers: [this.registry] });
  }

  #histogram(name: string, help: string, options = {}, bounds = BUCKETS): Histogram {
    return new Histogram(this.registry, `maitred_${name}`, help, bounds, options);
  }
}
