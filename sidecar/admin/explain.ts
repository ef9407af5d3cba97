import { callId, type CallId, type CallView, type ProgramView, type TenantId } from '../../src/index.js';
import type { Parts } from '../context.js';
import type { ActiveCall, Explanation } from './answers.js';
import { labelOf } from '../identity/names.js';
import { pastCallRow, pastCalls } from './call-rows.js';
import { batchInWords, waitingProgram } from './batches.js';
import { alike, counted, named, span } from './figures.js';
import { findProgramByBeginning } from './programs.js';
import { programDetail } from './program-rows.js';
import { budgetInWords, failedInWords, lastCallInWords, leavingInWords, WAITED_FOR } from './run-words.js';

/**
 * Why the calls of a program wait or run where they do, or how its last one ended. The id may also be its beginning, that of
 * a call or its request, or of a batch: then its first line that waits stands for all.
 * @param find finds the program
 * @throws GatewayError `unknown_program`, and `bad_request` if several programs are meant
 */
export function explain(
  context: Parts,
  id: string,
  tenant: TenantId | undefined,
  find = findProgramByBeginning,
): Explanation {
  const { views } = context.driver;
  const batch = batchInWords(context, id);
  if (batch !== undefined) {
    const line = waitingProgram(views.programs(), id);
    if (line === undefined) return { text: batch, program: null };
    const { text, program } = explained(context, line, views.callsOf(line.id, 1));
    return { text: `${batch}\n\n${text}`, program };
  }
  const ofCall = activeCall(context, callId(id));
  if (ofCall !== undefined) return ofCall;
  try {
    const row = find(context, id, tenant);
    const { text, program } = explained(context, row);
    const more = row.activeCalls - (program?.active.length ?? 0);
    return { text: more > 0 ? `${text}\n\n${more} later calls are active too.` : text, program };
  } catch (error) {
    // Behind all programs, as clients choose the ids of requests.
    const active = activeCall(context, context.active.find(id)?.spec?.id);
    if (active !== undefined) return active;
    const found = context.pastCalls.find(id);
    if (found === undefined) throw error;
    const label = labelOf(found.program);
    const { call } = found.past;
    const of = views.program(found.program);
    return {
      // A refused request may name no program.
      text: `Call ${call}${call === id ? '' : ` (request ${id})`}${label === '~' ? '' : ` of program ${named(label)}`} has ended. ${pastCallRow(found.past, views.balancerName).text}`,
      program: of === undefined ? null : programDetail(context, of, new Map()),
    };
  }
}

function activeCall(context: Parts, id: CallId | undefined): Explanation | undefined {
  const { views } = context.driver;
  const call = id && views.call(id);
  const row =
    call &&
    [views.program(call.program), ...views.leaving()].find((each) =>
      each?.threads.some((thread) => thread.call === id),
    );
  return row && explained(context, row, new Map([[call.call, call]]));
}

/** @param shown the active calls to explain; none: the last one; absent: all of them */
function explained(context: Parts, row: ProgramView, shown?: ReadonlyMap<CallId, CallView>): Explanation {
  const program = programDetail(context, row, shown);
  const { active, budget, ending } = program;
  const { calls } = pastCalls(context, row.id);
  if (active.length === 0) return { text: lastCallInWords(row, calls, budget), program };
  const told = [leavingInWords(row, ending), paragraphsOf(active), budgetInWords(budget), failedInWords(calls)].flat();
  return { text: told.join('\n\n'), program };
}

const CALLS_NAMED = 3;

/** A paragraph for each thing that calls wait for, and each engine that runs some: in the words of the oldest. */
function paragraphsOf(active: readonly ActiveCall[]): string[] {
  const placeOf = ({ waiting_for: wait, engine }: ActiveCall) =>
    `${wait?.cause} ${wait === null ? engine : wait.engine}`;
  return alike(active, placeOf).map(([first, ...others]) => [first.text, ...othersInWords(others)].join('\n'));
}

/** At most one sentence. */
function othersInWords(calls: readonly ActiveCall[]): string[] {
  const [first] = calls;
  if (first === undefined) return [];
  const { engine, waiting_for: wait } = first;
  const does = `${wait === null ? 'run' : 'wait'}${calls.length === 1 ? 's' : ''}`;
  const what = wait === null ? `on ${engine}` : `for ${WAITED_FOR[wait.cause]}`;
  const times = calls.map((call) => (wait === null ? call.service_seconds : call.waiting_seconds));
  const [least, most] = [Math.min(...times), Math.max(...times)].map((seconds) => span(1000 * seconds));
  const more = calls.length - CALLS_NAMED;
  const ids = calls
    .slice(0, CALLS_NAMED)
    .map(({ call }) => call)
    .join(', ');
  return [
    `${counted(calls.length, 'more call')} of it ${does} ${what}, for ${least === most ? '' : `${least} to `}${most}: ${ids}${more > 0 ? ` and ${counted(more, 'other')}` : ''}.`,
  ];
}
