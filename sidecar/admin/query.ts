import type { IncomingMessage } from 'node:http';
import { tenantId, type ProgramId, type ProgramView, type TenantId, type ThreadView } from '../../src/index.js';
import { GatewayError } from '../errors.js';
import { splitTarget } from '../http/target.js';
import { RANGES, type Range } from '../watch/totals.js';
import type { EndedProgram, Program, ProgramGroups } from './answers.js';

export const LIMIT = 100;
export const LIMIT_MAX = 1000;

/** The doings of its calls, whether or not it has been ended. */
export function activityOf({ threads }: ProgramView): Exclude<Program['state'], 'ending'> {
  if (threads.length === 0) return 'idle';
  return threads.some(({ state }) => state === 'running') ? 'running' : 'waiting';
}

export const programState = (row: ProgramView): Program['state'] =>
  row.removed === undefined ? activityOf(row) : 'ending';

/** Of its waiting calls; one in the background only if no other one waits. */
export const longestWaiting = ({ threads }: ProgramView): ThreadView | undefined =>
  threads.reduce<ThreadView | undefined>((longest, call) => {
    if (call.state !== 'waiting') return longest;
    const isFirst =
      longest === undefined ||
      (call.background === longest.background ? call.waitingMs > longest.waitingMs : longest.background);
    return isFirst ? call : longest;
  }, undefined);

/** Place by the present wait, up or down: who waits, who runs, who waits in the background, where nobody waits for it, and idle ones. */
export const waitRank = (waits: boolean, isBackground: boolean, isIdle: boolean): number =>
  waits ? (isBackground ? 2 : 0) : isIdle ? 3 : 1;

const rankOf = (row: ProgramView): number =>
  waitRank(longestWaiting(row) !== undefined, row.background, row.threads.length === 0);

/** Infinity: a call of it waits or runs. */
export const idleSinceMs = ({ activeCalls, lastCompletionAtMs, lastArrivalAtMs }: ProgramView): number =>
  activeCalls > 0 ? Infinity : (lastCompletionAtMs ?? lastArrivalAtMs);

const SORT_KEYS = {
  attained_service_seconds: (row) => row.serviceMs,
  waiting_seconds: (row) => row.waitingMs,
  longest_wait_seconds: (row) => row.waitMsMax,
  current_wait_seconds: (row) => longestWaiting(row)?.waitingMs ?? 0,
  level: (row) => row.level,
  active_calls: (row) => row.activeCalls,
  calls: (row) => row.callsTotal,
  promotions: (row) => row.promotions,
  context_tokens: (row) => row.contextTokens,
  on_host_tokens: (row) => row.onHostTokens,
  prompt_tokens: (row) => row.promptTokens,
  cached_tokens: (row) => row.cachedTokens,
  output_tokens: (row) => row.outputTokens,
  age_seconds: (row) => 0 - row.createdAtMs,
  idle_seconds: (row) => 0 - idleSinceMs(row),
} as const satisfies Record<string, (row: ProgramView) => number>;

/** In the order of equal rows. */
export const STATES: readonly string[] = ['waiting', 'ending', 'running', 'idle'] satisfies Program['state'][];
/** Values of the parameter `state`; `active` selects what is not idle. */
export const PROGRAM_STATES = [...STATES, 'active'];

/** Of equal rows, those that wait come first, and last idle ones, the latest to fall idle first. */
const compareEqual = (a: ProgramView, b: ProgramView): number =>
  STATES.indexOf(programState(a)) - STATES.indexOf(programState(b)) ||
  idleSinceMs(b) - idleSinceMs(a) ||
  (a.id < b.id ? -1 : 1);

const GROUPED_BY: readonly ProgramGroups['by'][] = ['tenant', 'model', 'agent_type', 'identified_by'];

const SELECTING: readonly string[] = ['by', 'sort', 'engine', 'state', 'text', ...GROUPED_BY];

export const queryOf = (request: IncomingMessage): URLSearchParams =>
  new URLSearchParams(splitTarget(request.url ?? '').search);

export function tenantIn(request: IncomingMessage): TenantId | undefined {
  const tenant = queryOf(request).get('tenant');
  return tenant === null ? undefined : tenantId(tenant);
}

/** The fields that filters read. */
interface Selectable extends Pick<EndedProgram, 'key' | ProgramGroups['by']> {
  readonly engines: readonly (string | null | undefined)[];
  /** Undefined: it has ended. */
  readonly state: Program['state'] | undefined;
}

export type ProgramQuery = Readonly<ReturnType<typeof readProgramQuery>>;

/** @throws GatewayError `bad_request` with the invalid parameter */
export function readProgramQuery(search: URLSearchParams, alsoKnown: readonly string[] = []) {
  const known = ['limit', 'offset', ...SELECTING, ...alsoKnown];
  for (const name of search.keys())
    if (!known.includes(name)) throw bad(name, `is not known here. There are: ${known.join(', ')}`);
  const matches = readFilter(search);
  return {
    limit: readCount(search, 'limit', LIMIT, 1, LIMIT_MAX),
    offset: readCount(search, 'offset', 0, 0, Number.MAX_SAFE_INTEGER),
    /** The same query from the first row on, for as many as are set; equal for the same programs in the same order. */
    selection: new URLSearchParams([...search].filter(([name]) => SELECTING.includes(name))).toString(),
    matches,
    matchesEnded: (row: EndedProgram) => matches({ ...row, engines: [row.engine], state: undefined }),
    /** Groups are asked for, by this; undefined: programs are. */
    by: readGrouping(search),
    sort: search.get('sort') ?? undefined,
    /** Ascending; undefined: in order of creation. */
    compare: readSort(search.get('sort')),
  };
}

/** The selection of one client: a page of the process table and, if one is open, a single program. */
export type WatchedView = Readonly<ReturnType<typeof readView>>;

/** @throws GatewayError `bad_request` with the invalid parameter */
export const readView = (search: URLSearchParams) => ({
  query: readProgramQuery(search, ['program', 'ended', 'range']),
  program: (search.get('program') ?? undefined) as ProgramId | undefined,
  ended: search.has('ended'),
  range: readRange(search),
});

/** @throws GatewayError `bad_request` */
export function readRange(search: URLSearchParams): Range {
  const text = search.get('range') ?? RANGES[0];
  const range = RANGES.find((name) => name === text);
  if (range === undefined) throw bad('range', `must be one of ${RANGES.join(', ')}`);
  return range;
}

/** Each word of `text` is searched for in the whole key, ignoring case. */
function readFilter(search: URLSearchParams): (row: Selectable) => boolean {
  const [engine, state] = [search.get('engine'), search.get('state')];
  const names = GROUPED_BY.filter((name) => search.has(name));
  const words = (search.get('text') ?? '').toLowerCase().split(/\s+/);
  if (state !== null && !PROGRAM_STATES.includes(state))
    throw bad('state', `must be one of ${PROGRAM_STATES.join(', ')}`);
  const states = state === 'active' ? STATES.filter((each) => each !== 'idle') : [state];
  return (row) =>
    names.every((name) => row[name] === search.get(name)) &&
    (engine === null || row.engines.includes(engine)) &&
    (state === null || states.includes(row.state ?? '')) &&
    words.every((word) => row.key.toLowerCase().includes(word));
}

function readGrouping(search: URLSearchParams): ProgramGroups['by'] | undefined {
  if (!search.has('by')) return undefined;
  const by = GROUPED_BY.find((name) => name === search.get('by'));
  if (by === undefined) throw bad('by', `must be one of ${GROUPED_BY.join(', ')}`);
  if (search.has('sort')) throw bad('sort', 'is for programs; groups come by their engine time');
  return by;
}

function readCount(search: URLSearchParams, name: string, otherwise: number, least: number, most: number): number {
  const text = search.get(name);
  if (text === null) return otherwise;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!(value >= least && value <= most)) throw bad(name, `must be a whole number from ${least} to ${most}`);
  return value;
}

function readSort(text: string | null): ((a: ProgramView, b: ProgramView) => number) | undefined {
  if (text === null) return undefined;
  const key = text.startsWith('-') ? text.slice(1) : text;
  if (!Object.hasOwn(SORT_KEYS, key))
    throw bad('sort', `must be one of ${Object.keys(SORT_KEYS).join(', ')}, with a minus sign for the greatest first`);
  const read: (row: ProgramView) => number = SORT_KEYS[key as keyof typeof SORT_KEYS];
  const sign = text.startsWith('-') ? -1 : 1;
  const rank = key === 'current_wait_seconds' ? rankOf : () => 0;
  return (a, b) => rank(a) - rank(b) || sign * (read(a) - read(b)) || compareEqual(a, b);
}

const bad = (param: string, problem: string): GatewayError =>
  new GatewayError('bad_request', `The query parameter ${JSON.stringify(param)} ${problem}.`, { param });
