import type { ProgramId, ProgramView, TenantId } from '../../src/index.js';
import { tenantsOf } from '../config/index.js';
import type { Parts, Peers } from '../context.js';
import { isNamed } from '../identity/names.js';
import type { Look, WatchPorts } from '../watch/watchers.js';
import { groupsOf, joinGroups } from './groups.js';
import { joinPages } from './joins.js';
import { ofOthers, stateOfAll, wherever, wholeEnded } from './peers.js';
import { ambiguous, endedLike, isUnknown, keyOf, selectPrograms } from './programs.js';
import { named } from './figures.js';
import { endedInWords, lastInWords, sinceInWords } from './run-words.js';
import { LIMIT_MAX, type ProgramQuery, type WatchedView } from './query.js';
import { pastCalls } from './call-rows.js';
import { programPage } from './program-rows.js';
import { engineRows, gatewayRow, historyRow, INSTANCE, totalsRow } from './state-rows.js';
import type { Explanation, PastCallList, ProgramGroups, ProgramPage } from './answers.js';

/** The page of a query, or of its groups, over all gateways. @param rows all of this one, in the query's order */
export async function wholePage(
  context: Parts,
  rows: readonly ProgramView[],
  query: ProgramQuery,
): Promise<() => ProgramPage | ProgramGroups> {
  const { peers } = context;
  const { by } = query;
  if (by !== undefined) {
    const [others, ended] = await Promise.all([ofOthers(context, 'groups', query.selection), wholeEnded(context)]);
    return () => joinGroups(query, by, [groupsOf(context, rows, by), ...others], ended);
  }
  if (peers === undefined) return () => programPage(context, rows, query);
  const limit = query.offset + query.limit;
  const others: ProgramPage[] = [];
  for (let offset = 0; offset < limit; offset += LIMIT_MAX) {
    const most = Math.min(LIMIT_MAX, limit - offset);
    const pages = await ofOthers(context, 'programs', `${query.selection}&offset=${offset}&limit=${most}`);
    // Each page has the total.
    others.push(...pages.map((page) => (offset === 0 ? page : { ...page, total: 0 })));
    if (pages.every(({ programs }) => programs.length < LIMIT_MAX)) break;
  }
  return () => joinPages(query, [programPage(context, rows, { offset: 0, limit }), ...others]);
}

export async function wholeCalls(context: Parts, ...programs: readonly ProgramId[]): Promise<PastCallList> {
  const all = [pastCalls(context, ...programs), ...(await ofOthers(context, 'calls', ...programs))];
  return { calls: all.flatMap(({ calls }) => calls).sort((a, b) => a.arrived_at - b.arrived_at) };
}

/** Of the program that was found by the id. */
export const callsOf = (context: Parts, id: string, { program, ended }: Explanation): Promise<PastCallList> =>
  wholeCalls(context, ((program ?? ended)?.key ?? id) as ProgramId);

/** Of a program that has left all tables, how it ended; of one that never had a row, its last call. @throws GatewayError as `wherever` */
export async function wholeExplanation(context: Parts, id: string, tenant: TenantId | undefined): Promise<Explanation> {
  const { programs } = await wholeEnded(context);
  const rows = programs.filter((row) => tenant === undefined || row.tenant === tenant);
  try {
    // A whole id goes before a beginning, also that of an ended program.
    return await wherever(context, rows.some(isNamed(id)) ? 'explainNamed' : 'explain', id, tenant);
  } catch (error) {
    if (!isUnknown(error)) throw error;
    const alike = endedLike(rows, id);
    const ended = alike.length === 1 ? alike[0] : undefined;
    const [own, tenants] = tenant === undefined ? [[id as ProgramId], tenantsOf(context.config)] : [[], [tenant]];
    const keys = [...own, ...tenants.flatMap((each) => keyOf(context, id, each) ?? [])];
    const { calls } = await wholeCalls(context, ...(ended === undefined ? keys : [ended.key as ProgramId]));
    // Those that came after its end were refused, or another program of the name would be known.
    const since = calls.findLastIndex(({ arrived_at: at }) => at <= (ended?.ended_at ?? Infinity)) + 1;
    const before = calls.slice(0, since);
    if (ended !== undefined)
      return {
        text: [endedInWords(ended, before), ...sinceInWords(calls.slice(since))].join('\n'),
        program: null,
        ended,
      };
    if (since === 0) throw alike.length > 1 ? ambiguous(alike.map((row) => row.id)) : error;
    return { text: `No call of program ${named(id)} waits or runs.\n${lastInWords(before)}`, program: null };
  }
}

/** The sections of `GET /stream`: the answers of the admin paths of the same names. */
export const watchPorts = (context: () => Parts): WatchPorts<WatchedView> => ({
  instance: INSTANCE,
  watchersMax: () => context().config.limits.watchersMax,
  look: () => lookAt(context()),
  failed: (err) => context().log.error({ err }, 'the state could not be shown'),
});

/** Pages ask much the same of the other gateways: each question of a look is asked once. */
function askingOnce(peers: Peers): Peers {
  const asked = new Map<string, ReturnType<Peers['ask']>>();
  return {
    gateway: peers.gateway,
    get silent() {
      return peers.silent;
    },
    ask: (question) => {
      const answers = asked.get(question) ?? peers.ask(question);
      asked.set(question, answers);
      return answers;
    },
  };
}

function lookAt(parts: Parts): Look<WatchedView> {
  const context = { ...parts, peers: parts.peers && askingOnce(parts.peers) };
  const { driver } = context;
  let busyMs = 0;
  const timed = <T>(work: () => T): T => {
    const since = performance.now();
    const done = work();
    busyMs += performance.now() - since;
    return done;
  };
  const shared = Promise.all([stateOfAll(context), ofOthers(context, 'steps', '5m')]).then(([state, steps]) =>
    timed(() => {
      const view = context.totals.read(driver.now(), '5m', steps);
      const engines = engineRows(context, view);
      return {
        gateway: JSON.stringify(gatewayRow(context, state, view, engines)),
        engines: JSON.stringify(engines),
        queue: JSON.stringify(state.queue),
        totals: JSON.stringify(totalsRow(view, context)),
      };
    }),
  );
  /** Many pages usually show the same selection. */
  const selections = new Map<string, Promise<ProgramView[]>>();
  const select = (query: ProgramQuery): Promise<ProgramView[]> => {
    const known = selections.get(query.selection) ?? selectPrograms(context, query, (ms) => (busyMs += ms));
    selections.set(query.selection, known);
    return known;
  };
  const oneProgram = async (id: ProgramId) => {
    const none = { text: '', program: null };
    const told = await wholeExplanation(context, id, undefined).catch(() => none);
    const { program, ...explain } = told;
    const calls = await callsOf(context, id, told);
    return { program: JSON.stringify(program), explain: JSON.stringify(explain), calls: JSON.stringify(calls) };
  };
  return {
    busyMs: () => busyMs,
    sections: async ({ query, program, ended, range }) => {
      const [page, steps, gone, one, both] = await Promise.all([
        select(query).then((rows) => wholePage(context, rows, query)),
        ofOthers(context, 'steps', range),
        ended ? wholeEnded(context) : undefined,
        program === undefined ? {} : oneProgram(program),
        shared,
      ]);
      return timed(() => ({
        ...both,
        history: JSON.stringify(historyRow(context.totals.read(driver.now(), range, steps), range)),
        [query.by === undefined ? 'programs' : 'groups']: JSON.stringify(page()),
        ...one,
        ...(gone && { ended: JSON.stringify({ programs: gone.programs.filter(query.matchesEnded) }) }),
      }));
    },
  };
}
