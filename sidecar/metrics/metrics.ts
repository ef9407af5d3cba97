import { Counter, Registry, collectDefaultMetrics } from 'prom-client';
import type { Dispatch, ProgramGone } from '../../src/index.js';
import { OUTCOMES, type CallReport } from '../calls/ports.js';
import type { ErrorCode } from '../errors.js';
import { Histogram } from './histogram.js';

/** Seconds, from a millisecond to the hours that agent programs take: 1, 2.5, 5 and so on. */
const BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000,
  10_000,
];

/**
 * Counters of the gateway. Names begin with `maitred_` and end in their base unit. Labels are bounded: outcomes, error
 * codes, levels and engines, never programs, tenants or values from clients. Gauges read from the scheduler during a
 * scrape are in `gauges.ts`.
 *
 * Accepted calls = ended calls of all outcomes + calls in the system, at any moment.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly #accepted = this.#counter('calls_accepted_total', 'Calls that the scheduler took in.');
  readonly #ended = this.#counter('calls_ended_total', 'Accepted calls that have ended, by outcome.', 'outcome');
  readonly #rejected = this.#counter('calls_rejected_total', 'Requests that were refused, by error code.', 'code');
  readonly #retries = this.#counter('call_retries_total', 'Dispatches of a call after its first.');
  readonly #comments = this.#counter('queue_comments_total', 'SSE comments sent to streaming calls that waited.');
  readonly #passed = this.#counter(
    'passthrough_requests_total',
    'Requests passed through unscheduled, by engine.',
    'engine',
  );
  readonly #prompt = this.#counter('prompt_tokens_total', 'Prompt tokens, as engines counted them.');
  readonly #cached = this.#counter(
    'prompt_tokens_cached_total',
    'Prompt tokens that engines had in their prefix caches.',
  );
  readonly #output = this.#counter('output_tokens_total', 'Tokens generated.');
  readonly #programsEnded = this.#counter('programs_ended_total', 'Programs that left the table, by cause.', 'cause');
  readonly #program = this.#histogram(
    'program_completion_seconds',
    'A program’s first arrival to its last completion.',
  );
  readonly #queue = this.#histogram('queue_seconds', 'Time in the queue at a dispatch, by level.', 'level');
  readonly #ttft = this.#histogram('ttft_seconds', 'Arrival to the first event of a streamed answer.');
  readonly #service = this.#histogram('service_seconds', 'Last dispatch to the end of a completed call.');
  readonly #call = this.#histogram('call_seconds', 'Arrival to the end of a completed call.');

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    for (const outcome of OUTCOMES) this.#ended.inc({ outcome }, 0);
  }

  accepted(): void {
    this.#accepted.inc();
  }

  rejected(code: ErrorCode): void {
    this.#rejected.inc({ code });
  }

  dispatched(dispatch: Dispatch, retry: boolean): void {
    this.#queue.observe(dispatch.queueMs / 1000, dispatch.level);
    if (retry) this.#retries.inc();
  }

  commented(): void {
    this.#comments.inc();
  }

  ended({ outcome, usage, ttftMs, serviceMs, durationMs }: CallReport): void {
    this.#ended.inc({ outcome });
    if (ttftMs !== undefined) this.#ttft.observe(ttftMs / 1000);
    if (usage !== undefined) {
      this.#prompt.inc(usage.promptTokens);
      this.#cached.inc(usage.cachedTokens ?? 0);
      this.#output.inc(usage.outputTokens);
    }
    if (outcome !== 'completed') return;
    if (serviceMs !== undefined) this.#service.observe(serviceMs / 1000);
    this.#call.observe(durationMs / 1000);
  }

  passedThrough(engine: string): void {
    this.#passed.inc({ engine });
  }

  programGone({ cause, durationMs }: ProgramGone): void {
    this.#programsEnded.inc({ cause });
    this.#program.observe(durationMs / 1000);
  }

  #counter<L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> {
    return new Counter({ name: `maitred_${name}`, help, labelNames, registers: [this.registry] });
  }

  #histogram(name: string, help: string, label?: string): Histogram {
    return new Histogram(this.registry, `maitred_${name}`, help, BUCKETS, label);
  }
}
