import type { ProgramView } from '../../src/index.js';
import { GatewayError } from '../errors.js';

const LIMIT = 100;
const LIMIT_MAX = 1000;

/** Sort keys of `GET /programs`, named after the fields of the rows. */
const SORT_KEYS = {
  attained_service_seconds: (row) => row.serviceMs,
  waiting_seconds: (row) => row.waitingMs,
  longest_wait_seconds: (row) => row.waitMsMax,
  level: (row) => row.level,
  active_calls: (row) => row.activeCalls,
  calls: (row) => row.callsTotal,
  promotions: (row) => row.promotions,
  context_tokens: (row) => row.contextTokens,
  prompt_tokens: (row) => row.promptTokens,
  cached_tokens: (row) => row.cachedTokens,
  output_tokens: (row) => row.outputTokens,
  age_seconds: (row) => 0 - row.createdAtMs,
  idle_seconds: (row) => 0 - row.lastArrivalAtMs,
} as const satisfies Record<string, (row: ProgramView) => number>;

export interface ProgramQuery {
  readonly limit: number;
  readonly offset: number;
  readonly tenant: string | undefined;
  /** Ascending; absent: in order of creation. */
  readonly compare: ((a: ProgramView, b: ProgramView) => number) | undefined;
}

/** @throws GatewayError `bad_request` with the invalid parameter */
export function readProgramQuery(search: URLSearchParams): ProgramQuery {
  for (const name of search.keys()) {
    if (!['limit', 'offset', 'sort', 'tenant'].includes(name)) throw bad(name, 'is not known here');
  }
  return {
    limit: readCount(search, 'limit', LIMIT, 1, LIMIT_MAX),
    offset: readCount(search, 'offset', 0, 0, Number.MAX_SAFE_INTEGER),
    tenant: search.get('tenant') ?? undefined,
    compare: readSort(search.get('sort')),
  };
}

function readCount(search: URLSearchParams, name: string, otherwise: number, least: number, most: number): number {
  const text = search.get(name);
  if (text === null) return otherwise;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!(value >= least && value <= most)) throw bad(name, `must be a whole number from ${least} to ${most}`);
  return value;
}

/** A field's name; a leading minus sign sorts in descending order. */
function readSort(text: string | null): ProgramQuery['compare'] {
  if (text === null) return undefined;
  const key = text.startsWith('-') ? text.slice(1) : text;
  if (!Object.hasOwn(SORT_KEYS, key)) {
    throw bad('sort', `must be one of ${Object.keys(SORT_KEYS).join(', ')}, with a minus sign for the greatest first`);
  }
  const read: (row: ProgramView) => number = SORT_KEYS[key as keyof typeof SORT_KEYS];
  const sign = text.startsWith('-') ? -1 : 1;
  return (a, b) => sign * (read(a) - read(b)) || (a.id < b.id ? -1 : 1);
}

function bad(param: string, problem: string): GatewayError {
  return new GatewayError('bad_request', `The query parameter ${JSON.stringify(param)} ${problem}.`, { param });
}
