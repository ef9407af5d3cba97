import type { ProgramId, TenantId } from '../../src/index.js';
import { parseJson } from '../apis/fields.js';
import type { Parts } from '../context.js';
import { GatewayError } from '../errors.js';
import { isNamed } from '../identity/names.js';
import { VERSION } from '../version.js';
import type { Told } from '../watch/steps.js';
import type { Range } from '../watch/totals.js';
import type * as Answers from './answers.js';
import { batchRows, cancelBatch, endedBatchRows } from './batches.js';
import { explain } from './explain.js';
import { groupsOf } from './groups.js';
import { joinEnded, joinQueues } from './joins.js';
import { endProgram, findProgram, isHere, isUnknown, ofSeveralTenants, selectPrograms } from './programs.js';
import { readProgramQuery } from './query.js';
import { pastCalls } from './call-rows.js';
import { endedRows, programDetail, programPage } from './program-rows.js';
import { whenEnded } from './run-words.js';
import { queueRow, type State } from './state-rows.js';

/** All that gateways of a cluster ask of each other, while somebody looks at one of them or ends a program there. */
const OWN = {
  state: (context: Parts): Pick<State, 'queue' | 'batches' | 'ended'> => ({
    queue: queueRow(context),
    batches: batchRows(context),
    ended: endedBatchRows(context),
  }),
  steps: ({ totals, driver }: Parts, range: Range): readonly Told[] => totals.read(driver.now(), range).steps,
  ended: endedRows,
  programs: async (context: Parts, search: string): Promise<Answers.ProgramPage> => {
    const query = readProgramQuery(new URLSearchParams(search));
    return programPage(context, await selectPrograms(context, query), query);
  },
  groups: async (context: Parts, search: string): Promise<readonly Answers.ProgramGroup[]> => {
    const query = readProgramQuery(new URLSearchParams(search));
    return groupsOf(context, await selectPrograms(context, query), query.by ?? 'tenant');
  },
  program: (context: Parts, id: string, tenant: TenantId | undefined): Answers.ProgramDetail =>
    programDetail(context, findProgram(context, id, tenant)),
  calls: pastCalls,
  explain: (context: Parts, id: string, tenant: TenantId | undefined): Answers.Explanation =>
    explain(context, id, tenant),
  explainNamed: (context: Parts, id: string, tenant: TenantId | undefined): Answers.Explanation =>
    explain(context, id, tenant, findProgram),
  end: (context: Parts, key: string, by: 'operator' | undefined): boolean => {
    const row = context.driver.views.program(key as ProgramId);
    if (row === undefined || !isHere(context, row)) return false;
    endProgram(context, row.id, by);
    return true;
  },
  cancel: cancelBatch,
};

type Name = keyof typeof OWN;
/** The questions about one program. `explainNamed` takes no beginning of an id. */
type Asking = 'program' | 'explain' | 'explainNamed';
type Own<N extends Name> = Awaited<ReturnType<(typeof OWN)[N]>>;
type Asked<N extends Name> = Parameters<(typeof OWN)[N]> extends [unknown, ...infer A] ? A : never;

/** Answers another gateway. '': there is nothing to tell, or it is of another version. */
export async function answerPeer(context: Parts, question: string): Promise<string> {
  const [version, name = '', args = []] = JSON.parse(question) as [string, string?, (string | null)[]?];
  if (version !== VERSION || !Object.hasOwn(OWN, name)) return '';
  const tell = OWN[name as Name] as (context: Parts, ...args: readonly unknown[]) => unknown;
  return JSON.stringify(await tell(context, ...args.map((each) => each ?? undefined)));
}

/** The answers of the others, but for those that tell nothing; none without a cluster. */
export async function ofOthers<N extends Name>({ peers }: Parts, name: N, ...args: Asked<N>): Promise<Own<N>[]> {
  const answers = await peers?.ask(questionOf(name, args));
  const own = [...(answers?.values() ?? [])].map((text) => parseJson(text) as Own<N> | undefined);
  return own.filter((each) => each !== undefined);
}

const questionOf = (name: Name, args: readonly unknown[]): string => JSON.stringify([VERSION, name, args]);

export const wholeEnded = async (context: Parts): Promise<Answers.EndedPrograms> =>
  joinEnded([endedRows(context), ...(await ofOthers(context, 'ended'))]);

export async function stateOfAll(context: Parts): Promise<State> {
  const answers = await context.peers?.ask(questionOf('state', []));
  const others = [...(answers ?? [])].map(
    ([gateway, text]) => [gateway, parseJson(text) as Own<'state'> | undefined] as const,
  );
  const own = OWN.state(context);
  const theirs = others.flatMap(([, state]) => state ?? []);
  const all = [own, ...theirs] as const;
  return {
    queue: joinQueues(all.map(({ queue }) => queue) as [Answers.Queue, ...Answers.Queue[]]),
    batches: all.flatMap(({ batches }) => batches),
    ended: all.flatMap(({ ended }) => ended).sort((a, b) => b.ended_at - a.ended_at),
    strange: others.filter(([, state]) => state === undefined).map(([gateway]) => gateway),
  };
}

/** The same of `cancelBatch`, whichever gateway has the batch. */
export async function cancelAnywhere(context: Parts, id: string): Promise<string> {
  const text = await cancelBatch(context, id);
  return text === '' ? ((await ofOthers(context, 'cancel', id)).find((each) => each !== '') ?? '') : text;
}

/** Ends the program here and wherever it runs; any client may name one, so others are asked cheaply. @returns whether it was known */
export async function endEverywhere(context: Parts, program: ProgramId, by?: 'operator'): Promise<boolean> {
  const row = context.driver.views.program(program);
  const isOurs = row !== undefined && isHere(context, row);
  const isTheirs = !isOurs && (await ofOthers(context, 'end', program, by)).includes(true);
  endProgram(context, program, by);
  return isTheirs || row !== undefined;
}

/** The answer of the gateway that runs the program: a whole id goes before a beginning. @throws GatewayError `unknown_program`, `bad_request` */
export async function wherever<N extends Asking>(
  context: Parts,
  name: N,
  id: string,
  tenant: TenantId | undefined,
): Promise<Own<N>> {
  const found: Own<N>[] = [];
  let unknown: GatewayError | undefined;
  try {
    const own = OWN[name](context, id, tenant) as Own<N>;
    const row = rowOf(own);
    if (row?.key === id || (row?.id === id && tenant !== undefined)) return own;
    found.push(own);
  } catch (error) {
    if (!isUnknown(error)) throw error;
    unknown = error;
  }
  found.push(...(await ofOthers(context, name, ...([id, tenant] as unknown as Asked<N>))));
  const isSame = isNamed(id);
  const whole = found.filter((each) => isSame(rowOf(each)));
  if (new Set(whole.map((each) => rowOf(each)?.key)).size > 1)
    throw ofSeveralTenants(whole.flatMap((each) => rowOf(each) ?? []));
  const [first = found[0]] = whole;
  if (first === undefined) {
    const ended = (await wholeEnded(context)).programs.find(
      (row) => isSame(row) && (tenant ?? row.tenant) === row.tenant,
    );
    const { code, message } = unknown as GatewayError;
    // Another of its name may run at a gateway that does not answer.
    if (ended !== undefined && context.driver.views.program(ended.key as ProgramId) === undefined)
      throw new GatewayError(code, whenEnded(ended));
    // Names of gateways are for operators, who see all tenants.
    const silent = tenant === undefined ? (context.peers?.silent ?? []).join(', ') : '';
    throw new GatewayError(code, silent === '' ? message : `${message} No answer from ${silent}.`);
  }
  const gateway = rowOf(first)?.gateway ?? null;
  if (!('text' in first) || gateway === null || gateway === context.peers?.gateway) return first;
  return { ...first, text: `${first.text}\n\nIt is at the gateway ${gateway}.` };
}

const rowOf = (answer: Own<Asking>): Answers.Program | null => ('text' in answer ? answer.program : answer);
