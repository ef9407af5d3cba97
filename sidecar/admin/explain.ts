import { callId, type CallView, type ProgramView, type TenantId } from '../../src/index.js';
import type { Context } from '../context.js';
import type { Explanation } from './answers.js';
import { batchInWords, waitingProgram } from './batches.js';
import { findProgramByBeginning } from './programs.js';
import { CALLS_MAX, programRows } from './rows.js';
import { dispatchRow, inSeconds, obstacleRow, seconds, shareRow, waitRow } from './wait-rows.js';
import { callInWords, lastCallInWords } from './words.js';

/** The parts of the gateway that this file uses. */
type Parts = Pick<Context, 'batches' | 'config' | 'cluster' | 'driver' | 'identifier' | 'known' | 'peers'>;

/**
 * `GET /programs/{id}/explain`: why the program's calls wait, or why they run where they run; without an active call,
 * why its last one ran where it ran. The id may also be a call's: an active one, or the last of its program; or the
 * beginning of a program's, or a batch's: then the first of its lines that waits stands for all.
 * @throws GatewayError `unknown_program`, and `bad_request` if several programs are meant
 */
export async function explain(
  context: Parts,
  id: string,
  tenant: TenantId | undefined,
  now: number,
): Promise<Explanation> {
  const { views } = context.driver;
  const batch = await batchInWords(context, id);
  if (batch !== undefined) return explainBatch(context, id, batch, now);
  const active = views.call(callId(id));
  if (active !== undefined) {
    const row = views.program(active.program);
    return explanation(context, row, [callRow(context, id, active, now)]);
  }
  const withLast = withLastCall(context, id);
  if (withLast !== undefined) return explanation(context, withLast, []);
  const row = findProgramByBeginning(context, id, tenant);
  const calls = [...views.callsOf(row.id, CALLS_MAX)].map(([call, view]) => callRow(context, call, view, now));
  return explanation(context, row, calls, row.activeCalls - calls.length);
}

function explainBatch(context: Parts, id: string, words: string, now: number): Explanation {
  const { views } = context.driver;
  const row = waitingProgram(views.programs(), id);
  const calls = row === undefined ? [] : [...views.callsOf(row.id, 1)].map(([call, view]) => callRow(context, call, view, now)); // prettier-ignore
  const { text, ...rest } = explanation(context, row, calls);
  return { ...rest, text: row === undefined ? words : `${words}\n\n${text}` };
}

/** @param more active calls besides these */
function explanation(context: Parts, row: ProgramView | undefined, calls: Explanation['calls'], more = 0): Explanation {
  const last = row?.lastDispatch;
  const { views } = context.driver;
  const rules = {
    policy: views.policyName,
    order: context.config.policy.order,
    levels: context.driver.queue().byLevel.length,
    balancer: views.balancerName,
  };
  const texts =
    calls.length > 0 || row === undefined ? calls.map((call) => call.text) : [lastCallInWords(row, last, rules)];
  if (more > 0) texts.push(`${more} later calls are active too.`);
  return {
    text: texts.join('\n\n'),
    program: row === undefined ? null : (programRows(context, [row])[0] ?? null),
    calls,
    last_call: last === undefined ? null : { call: last.call, ...dispatchRow(last) },
  };
}

function callRow(context: Parts, call: string, view: CallView, now: number): Explanation['calls'][number] {
  const { program, thread, level, serviceMs, waitingMs, promoted, overdue, engine, dispatch, waiting } = view;
  const { views } = context.driver;
  return {
    call,
    program,
    thread,
    state: waiting === undefined ? 'running' : 'waiting',
    text: callInWords(call, view, { balancer: views.balancerName, now, forecast: views.forecast(program) }),
    level,
    attained_service_seconds: seconds(serviceMs),
    waiting_seconds: seconds(waitingMs),
    promoted,
    overdue,
    engine: engine ?? null,
    waiting_for: waiting === undefined ? null : waitRow(waiting.nearest, now),
    tenant_share: waiting?.share === undefined ? null : shareRow(waiting.share),
    engines: waiting?.engines.map((each) => obstacleRow(each, now)) ?? [],
    promoted_in_seconds: inSeconds(waiting?.promoteAtMs, now),
    overdue_in_seconds: inSeconds(waiting?.overdueAtMs, now),
    refused_in_seconds: inSeconds(waiting?.refuseAtMs, now),
    dispatch: dispatch === undefined ? null : dispatchRow(dispatch),
  };
}

const CALL_ID = /^[0-9a-f]{10}-\d+$/;

/** The program whose last dispatch was of this call. */
function withLastCall({ driver }: Parts, id: string): ProgramView | undefined {
  if (!CALL_ID.test(id)) return undefined;
  for (const row of driver.views.programs()) if (row.lastDispatch?.call === callId(id)) return row;
  return undefined;
}
