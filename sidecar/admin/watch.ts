import type { ProgramId, ProgramView } from '../../src/index.js';
import type { Context } from '../context.js';
import type { Look, WatchPorts } from '../watch/watchers.js';
import { selectPrograms, type ProgramQuery, type WatchedView } from './query.js';
import {
  INSTANCE,
  engineRows,
  endedRows,
  gatewayRow,
  historyRow,
  pastCalls,
  programDetail,
  programRows,
  queueRow,
  totalsRow,
  type Shown,
} from './rows.js';
import type { ProgramPage } from './answers.js';

/** The parts of the gateway that this file uses. */
type Parts = Shown & Pick<Context, 'log' | 'threads'>;

export function programPage(context: Parts, rows: readonly ProgramView[], query: ProgramQuery): ProgramPage {
  const { limit, offset } = query;
  return { programs: programRows(context, rows.slice(offset, offset + limit)), total: rows.length, limit, offset };
}

/** The sections of `GET /stream`: the answers of the admin paths of the same names. */
export function watchPorts(context: () => Parts): WatchPorts<WatchedView> {
  return {
    instance: INSTANCE,
    watchersMax: () => context().config.limits.watchersMax,
    look: () => lookAt(context()),
    failed: (err) => context().log.error({ err }, 'the state could not be shown'),
  };
}

function lookAt(context: Parts): Look<WatchedView> {
  const { driver } = context;
  let busyMs = 0;
  const timed = <T>(work: () => T): T => {
    const since = performance.now();
    const done = work();
    busyMs += performance.now() - since;
    return done;
  };
  const shared = timed(() => ({
    gateway: JSON.stringify(gatewayRow(context)),
    engines: JSON.stringify(engineRows(context)),
    queue: JSON.stringify(queueRow(context)),
    totals: JSON.stringify(totalsRow(context)),
  }));
  /** Many pages usually show the same selection. */
  const selections = new Map<string, Promise<ProgramView[]>>();
  const select = (query: ProgramQuery): Promise<ProgramView[]> => {
    const known = selections.get(query.selection) ?? selectPrograms(driver.views, query, (ms) => (busyMs += ms));
    selections.set(query.selection, known);
    return known;
  };
  const oneProgram = (id: ProgramId) => {
    const row = driver.views.program(id);
    const detail = row && programDetail(context, row);
    return {
      program: JSON.stringify(detail ?? null),
      calls: JSON.stringify(pastCalls(context, id)),
    };
  };
  return {
    busyMs: () => busyMs,
    sections: async ({ query, program, ended, range }) => {
      const rows = await select(query);
      return timed(() => ({
        ...shared,
        history: JSON.stringify(historyRow(context, range)),
        programs: JSON.stringify(programPage(context, rows, query)),
        ...(program !== undefined && oneProgram(program)),
        ...(ended && { ended: JSON.stringify(endedRows(context)) }),
      }));
    },
  };
}
