import type { ProgramId, TenantId } from '../../src/index.js';
import type { Context } from '../context.js';
import { GatewayError } from '../errors.js';
import { VERSION } from '../version.js';
import type { Told } from '../watch/steps.js';
import type { Range } from '../watch/totals.js';
import type * as Answers from './answers.js';
import { batchRows } from './batches.js';
import { explain } from './explain.js';
import { endProgram, findProgram, isHere, notHere, rowsHere } from './programs.js';
import { readProgramQuery, selectPrograms } from './query.js';
import { endedRows, pastCalls, programDetail, programPage, queueRow, type Shown } from './rows.js';

/** The parts of the gateway that this file uses. */
export type Parts = Shown & Pick<Context, 'identifier' | 'observers' | 'threads'>;

/** All that gateways of a cluster ask of each other, while somebody looks at one of them or ends a program there. */
const OWN = {
  queue: (context: Parts): Answers.Queue => queueRow(context),
  batches: (context: Parts): Answers.Batch[] => batchRows(context),
  steps: ({ totals, driver }: Parts, range: Range): readonly Told[] =>
    totals.read(driver.now(), range).steps.map((step) => step.toJSON()),
  ended: (context: Parts): Answers.EndedPrograms => endedRows(context),
  programs: async (context: Parts, search: string): Promise<Answers.ProgramPage> => {
    const query = readProgramQuery(new URLSearchParams(search));
    return programPage(context, await selectPrograms(rowsHere(context), query), query);
  },
  program: (context: Parts, id: string, tenant: TenantId | undefined): Answers.ProgramDetail => {
    const row = findProgram(context, id, tenant);
    if (!isHere(context, row)) throw notHere();
    return programDetail(context, row);
  },
  calls: (context: Parts, key: string): Answers.PastCallList => pastCalls(context, key as ProgramId),
  explain: (context: Parts, id: string, tenant: TenantId | undefined): Promise<Answers.Explanation> =>
    explain(context, id, tenant, context.driver.now()),
  end: (context: Parts, key: string): boolean => {
    const row = context.driver.views.program(key as ProgramId);
    if (row === undefined || !isHere(context, row)) return false;
    endProgram(context, row.id);
    return true;
  },
};
type Name = keyof typeof OWN;
type Own<N extends Name> = Awaited<ReturnType<(typeof OWN)[N]>>;
type Asked<N extends Name> = Parameters<(typeof OWN)[N]> extends [unknown, ...infer A] ? A : never;

/** Answers another gateway. '': there is nothing to tell, or it is of another version. */
export async function answerPeer(context: Parts, question: string): Promise<string> {
  const [version, name = '', args = []] = JSON.parse(question) as [string, string?, (string | null)[]?];
  if (version !== VERSION || !Object.hasOwn(OWN, name)) return '';
  const tell = OWN[name as Name] as (context: Parts, ...args: readonly unknown[]) => unknown;
  return JSON.stringify(await tell(context, ...args.map((each) => each ?? undefined)));
}

/** The answers of the others; none without a cluster. */
export async function ofOthers<N extends Name>(
  { peers }: Pick<Context, 'peers'>,
  name: N,
  ...args: Asked<N>
): Promise<Own<N>[]> {
  const answers = await peers?.ask(JSON.stringify([VERSION, name, args]));
  return [...(answers?.values() ?? [])].filter((text) => text !== '').map((text) => JSON.parse(text) as Own<N>);
}

/**
 * The program's answer of the gateway that runs it: this one is asked first.
 * @throws GatewayError `unknown_program`
 */
export async function wherever<N extends 'program' | 'explain'>(
  context: Parts,
  name: N,
  id: string,
  tenant: TenantId | undefined,
): Promise<Own<N>> {
  try {
    return (await OWN[name](context, id, tenant)) as Own<N>;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'unknown_program') throw error;
    const [found] = await ofOthers(context, name, ...([id, tenant] as unknown as Asked<N>));
    const silent = context.peers?.silent.join(', ') ?? '';
    if (found === undefined)
      throw silent === '' ? error : new GatewayError(error.code, `${error.message} No answer from ${silent}.`);
    if (!('text' in found) || found.program === null) return found;
    return { ...found, text: `${found.text}\n\nIt is at the gateway ${found.program.gateway}.` };
  }
}
