import { OUTCOMES, type FailureCause, type Outcome } from '../calls/spec.js';
import type { Sum } from './sums.js';

const failure = (cause: FailureCause): Sum => ({
  name: 'maitred_engine_failures_total',
  help: 'Attempts that the engine failed or had no room for, by cause.',
  labels: { cause },
});

export const ENGINE_SUMS = {
  dispatches: { name: 'maitred_engine_dispatches_total', help: 'Attempts of calls on the engine.' },
  unreached: failure('unreached'),
  transport: failure('transport'),
  answer: failure('answer'),
  busy: failure('busy'),
  passed: { name: 'maitred_passthrough_requests_total', help: 'Requests passed through unscheduled, by engine.' },
  promptTokens: { name: 'maitred_engine_prompt_tokens_total', help: 'Prompt tokens that the engine counted.' },
  cachedTokens: {
    name: 'maitred_engine_prompt_tokens_cached_total',
    help: 'Prompt tokens that the engine had in its prefix cache.',
  },
  outputTokens: { name: 'maitred_engine_output_tokens_total', help: 'Tokens that the engine generated.' },
} as const satisfies Record<string, Sum>;

const ended = (outcome: Outcome): Sum => ({
  name: 'maitred_tenant_calls_ended_total',
  help: 'Accepted calls of the tenant that have ended, by outcome.',
  labels: { outcome },
});

export const TENANT_SUMS = {
  ...(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, ended(outcome)])) as Record<Outcome, Sum>),
  accepted: { name: 'maitred_tenant_calls_accepted_total', help: 'Calls of the tenant that the scheduler took in.' },
  rejected: {
    name: 'maitred_tenant_calls_rejected_total',
    help: 'Calls of the tenant that the scheduler refused on arrival.',
  },
  queueSeconds: {
    name: 'maitred_tenant_queue_seconds_total',
    help: 'Time that ended calls of the tenant had waited.',
  },
  serviceSeconds: {
    name: 'maitred_tenant_service_seconds_total',
    help: 'Time from the last dispatch to the end of the tenant’s calls.',
  },
  promptTokens: { name: 'maitred_tenant_prompt_tokens_total', help: 'Prompt tokens of the tenant.' },
  cachedTokens: {
    name: 'maitred_tenant_prompt_tokens_cached_total',
    help: 'Prompt tokens of the tenant that engines had in their prefix caches.',
  },
  outputTokens: { name: 'maitred_tenant_output_tokens_total', help: 'Tokens generated for the tenant.' },
} as const satisfies Record<string, Sum>;
