import { setImmediate } from 'node:timers/promises';
import { engineId, type ProgramId, type ProgramView, type TenantId } from '../../src/index.js';
import type { Parts } from '../context.js';
import { GatewayError } from '../errors.js';
import { isNamed, labelOf, madeProgram } from '../identity/names.js';
import type { EndedProgram } from './answers.js';
import { named, span } from './figures.js';
import { toldRow } from './program-rows.js';
import { programState, type ProgramQuery } from './query.js';

/** Ends a program: its running calls finish, and the next call with its id is a new program. */
export function endProgram({ driver, observers }: Parts, program: ProgramId, by?: 'operator'): void {
  observers.tell('programEnded', program, by);
  driver.emit({ type: 'programEnded', program });
}

/** Whether no other gateway has had calls of it since, or some still run here. */
export const isHere = ({ cluster }: Parts, { id, activeCalls }: ProgramView): boolean =>
  cluster === undefined || activeCalls > 0 || cluster.runs(id);

/** The programs of this gateway; those that have moved to another one are no longer its own. */
export function* rowsHere(context: Parts): Generator<ProgramView> {
  for (const row of rowsKnown(context)) if (isHere(context, row)) yield row;
}

/** A row of each id: that of the table, or else the first of those that have been ended while calls of them run. */
function* rowsKnown({ driver: { views } }: Parts): Generator<ProgramView> {
  const leaving = new Map(Array.from(views.leaving().toReversed(), (row) => [row.id, row]));
  yield* views.programs();
  for (const row of leaving.values()) if (views.program(row.id) === undefined) yield row;
}

/** Time for which a large table is read before other work gets its turn, and rows between two looks at the clock. */
const SLICE_MS = 2;
const SLICE_ROWS = 64;

/** The rows of this gateway that a query selects, in its order. @param busy receives the milliseconds of each slice of the work */
export async function selectPrograms(
  context: Parts,
  { matches, compare }: ProgramQuery,
  busy: (ms: number) => void = () => undefined,
): Promise<ProgramView[]> {
  const rows: ProgramView[] = [];
  let read = 0;
  let since = performance.now();
  for (const row of rowsHere(context)) {
    const { id: key, tenant, home, engines } = row;
    if (
      matches({ key, tenant, ...toldRow(context.known.of(row)), engines: [home, ...engines], state: programState(row) })
    )
      rows.push(row);
    if (++read % SLICE_ROWS !== 0) continue;
    const spent = performance.now() - since;
    if (spent < SLICE_MS) continue;
    busy(spent);
    await setImmediate();
    since = performance.now();
  }
  if (compare !== undefined) rows.sort(compare);
  busy(performance.now() - since);
  return rows;
}

/**
 * A program by its client's id; without a tenant also by its key, which may search the whole table.
 * @throws GatewayError `unknown_program`, or `bad_request` if several tenants have a program of that name
 */
export function findProgram(context: Parts, id: string, tenant: TenantId | undefined): ProgramView {
  const { views } = context.driver;
  const key = tenant === undefined ? (id as ProgramId) : keyOf(context, id, tenant);
  const found = key && (views.program(key) ?? views.leaving().find((row) => row.id === key));
  const isSame = isNamed(id);
  const isSought = found === undefined && tenant === undefined;
  const alike = isSought
    ? [...rowsKnown(context)].filter((each) => isSame({ id: labelOf(each.id), key: each.id }))
    : [];
  if (alike.length > 1) throw ofSeveralTenants(alike);
  const [row = found] = alike;
  if (row === undefined) throw unknownProgram(id);
  if (isHere(context, row)) return row;
  throw new GatewayError('unknown_program', 'Another gateway runs this program, and has not answered.');
}

/** The scheduler's own id of a tenant's program; undefined: no id is like this. */
export const keyOf = ({ identifier }: Parts, id: string, tenant: TenantId): ProgramId | undefined =>
  id.startsWith('~') ? madeProgram(tenant, id.slice(1)) : identifier.named(tenant, id);

export function ofSeveralTenants(rows: readonly { readonly tenant: string }[]): GatewayError {
  const tenants = [...new Set(rows.map(({ tenant }) => named(tenant)))].slice(0, CANDIDATES_MAX).join(', ');
  return new GatewayError(
    'bad_request',
    `Several tenants have such a program, as ${tenants}: name one of them (--tenant).`,
    { param: 'tenant' },
  );
}

const CALL_ID = /^[0-9a-f]{10}-\d+$/;
/** Shortest beginning of an id that finds a program, and most candidates to name. */
const BEGINNING_CHARS_MIN = 4;
const CANDIDATES_MAX = 5;

/**
 * The same by the beginning of an id as well, as screens cut long ids: for questions only, never to change a program.
 * @throws GatewayError as `findProgram`, and `bad_request` with the candidates if several begin alike
 */
export function findProgramByBeginning(context: Parts, id: string, tenant: TenantId | undefined): ProgramView {
  try {
    return findProgram(context, id, tenant);
  } catch (error) {
    if (!isUnknown(error)) throw error;
    if (context.fleet.get(engineId(id)) !== undefined)
      throw unknownProgram(id, ' It is an engine: see maitred engines.');
    if (id.length < BEGINNING_CHARS_MIN)
      throw unknownProgram(id, ` Give at least ${BEGINNING_CHARS_MIN} characters of its beginning.`);
    const found = [...rowsHere(context)].filter(
      (row) => beginsLike(labelOf(row.id), id) && (tenant === undefined || row.tenant === tenant),
    );
    const [first, ...others] = found;
    if (first === undefined)
      throw unknownProgram(id, ` The gateway started ${span(1000 * process.uptime())} ago.`, 'program, call or batch');
    if (others.length > 0) throw ambiguous(found.map((row) => labelOf(row.id)));
    return first;
  }
}

/**
 * The ended program of this id or key, or else all whose ids begin so; of those of one name, the last.
 * @param rows the last to end first
 * @throws GatewayError `bad_request` if programs of several tenants had this id
 */
export function endedLike(rows: readonly EndedProgram[], id: string): EndedProgram[] {
  const whole = rows.filter(isNamed(id));
  if (whole.some(({ tenant }) => tenant !== whole[0]?.tenant)) throw ofSeveralTenants(whole);
  if (whole.length > 0 || id.length < BEGINNING_CHARS_MIN) return whole.slice(0, 1);
  const alike = rows.filter((row) => beginsLike(row.id, id));
  return alike.filter(({ key }, at) => alike.findIndex((row) => row.key === key) === at);
}

const bare = (label: string): string => label.replace(/^~/, '');
const beginsLike = (label: string, id: string): boolean => bare(label).startsWith(bare(id));

/** @param found ids of programs */
export function ambiguous(found: readonly string[]): GatewayError {
  const shown = found.slice(0, CANDIDATES_MAX).map(named);
  const more = found.length > shown.length ? ` and ${found.length - shown.length} more` : '';
  const message = `${found.length} programs begin like this: ${shown.join(', ')}${more}.`;
  return new GatewayError('bad_request', message, { param: 'id' });
}

export const isUnknown = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'unknown_program';

/** Whether it is a batch's id, or the beginning of one. */
export const isBatchId = (id: string): boolean => /^batch_[\da-f]{0,24}$/.test(id);

export const unknownProgram = (id: string, advice = '', otherwise = 'program'): GatewayError =>
  new GatewayError(
    'unknown_program',
    `No ${isBatchId(id) ? 'batch' : id.startsWith('batch_') ? 'program or batch' : CALL_ID.test(id) ? 'call' : otherwise} ${JSON.stringify(id.slice(0, 200))} is known.${advice}`,
  );
