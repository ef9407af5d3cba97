import type { Served } from '../../sim/index.js';
import { millis, tenantId, tokens, type LogStep, type ProgramId, type Usage } from '../../src/index.js';
import { LoggedPrograms, TraceError, TraceRecord, type AgentProgram } from '../../workloads/index.js';
import type { Seen, SeenCall } from './seen-calls.js';

export interface Pool extends Seen {
  readonly models: ReadonlySet<string>;
}

/** Every engine is in one pool: with those that serve one of its models, directly or through others. */
export function poolsOf(seen: Seen): Pool[] {
  let groups: Pick<Pool, 'models' | 'engines'>[] = [];
  for (const engine of seen.engines) {
    const models = engine.models.map(nameOf);
    const joined = groups.filter((group) => models.some((model) => group.models.has(model)));
    const merged = {
      models: new Set([...joined.flatMap((group) => [...group.models]), ...models]),
      engines: [...joined.flatMap((group) => group.engines), engine],
    };
    groups = [...groups.filter((group) => !joined.includes(group)), merged];
  }
  return groups.map((group) => {
    const isOwn = ({ arrival }: SeenCall) => group.models.has(nameOf(arrival.model));
    return { ...seen, ...group, ended: seen.ended.filter(isOwn), open: seen.open.filter(isOwn) };
  });
}

/** A model may be named with the one engine that had to run the call, after a NUL. */
const nameOf = (model: string): string => model.split('\0', 1)[0] ?? '';

interface Counted {
  /** Its first calls, in the order of their ends; later ones still wait or run. */
  readonly calls: number;
  /** From its first arrival to its last answer. */
  readonly measuredMs: number;
}

/** The programs by arrival; and those that began in the window, by their ids. */
export interface PoolPrograms {
  readonly programs: readonly AgentProgram[];
  readonly counted: ReadonlyMap<string, Counted>;
}

/**
 * The calls of a pool as programs. Calls without an answer, and calls to other pools, are gaps of them. Calls that have
 * not ended are load too; their answers are taken to be of the usual length.
 */
export function programsOf(pool: Pool): PoolPrograms {
  const { ended, open, sinceMs, nowMs } = pool;
  const answers = new Map<ProgramId, { readonly calls: number; readonly endedMs: number }>();
  /** Programs whose first call came in the window. */
  const begun = new Set<string>();
  const steps: LogStep[] = [];
  let outputTokens = 0;
  /** Tokens of the beginnings that families share: the most that was found cached, as an engine may have evicted them. */
  const shared = new Map<number | undefined, number>();
  for (const { arrival, usage } of ended) {
    const { id, tokens: told } = arrival.family ?? { id: undefined, tokens: 0 };
    shared.set(id, Math.max(shared.get(id) ?? 0, Math.min(usage?.cachedTokens ?? 0, told)));
  }
  const add = ({ arrival, arrivedMs }: SeenCall, usage: Usage, endedMs: number) => {
    const { call, family, tenant } = arrival;
    const cachedTokens = tokens(Math.max(usage.cachedTokens ?? 0, shared.get(family?.id) ?? 0));
    // The log's reader tells common beginnings apart by their tenants.
    const event = { ...arrival, tenant: family === undefined ? tenant : tenantId(`family ${family.id}`) };
    if (arrivedMs >= sinceMs) begun.add(call);
    steps.push({ now: millis(Math.max(arrivedMs, sinceMs)), event, commands: [] });
    steps.push({
      now: millis(endedMs),
      event: { type: 'callFinished', call, usage: { ...usage, cachedTokens } },
      commands: [],
    });
  };
  for (const call of ended) {
    const { arrival, usage, endedMs } = call;
    if (usage === undefined) continue;
    add(call, usage, endedMs);
    outputTokens += usage.outputTokens;
    answers.set(arrival.program, { calls: (answers.get(arrival.program)?.calls ?? 0) + 1, endedMs });
  }
  const usual = tokens(Math.max(1, Math.round((2 * outputTokens) / steps.length) || 1));
  for (const call of open) add(call, { promptTokens: call.arrival.promptTokens, outputTokens: usual }, nowMs);
  steps.sort((a, b) => a.now - b.now);
  const logged = new LoggedPrograms(0);
  steps.forEach((step, number) => logged.take(step, new TraceRecord('', { unit: 'line', number }, undefined)));
  const counted = new Map<string, Counted>();
  const programs = logged.rest().flatMap((found) => {
    const first = found instanceof TraceError ? undefined : steps[found.record.place.number];
    if (found instanceof TraceError || first?.event.type !== 'callArrived') return [];
    // The log's reader makes ids of its own.
    const id = first.event.program;
    const own = answers.get(id);
    if (own !== undefined && begun.has(id)) counted.set(id, { calls: own.calls, measuredMs: own.endedMs - first.now });
    return { ...found.program, id };
  });
  return { programs: programs.sort((a, b) => (a.arrivalMs ?? 0) - (b.arrivalMs ?? 0)), counted };
}

/** The calls of each engine that were answered or still run, as far as they were dispatched in the window. */
export function servedOf({ ended, open, engines, sinceMs }: Pool): Served[][] {
  const calls = [...ended.filter(({ usage }) => usage !== undefined), ...open];
  const served = ({ arrival, usage, ...times }: SeenCall): Served => ({
    ...times,
    promptTokens: usage?.promptTokens ?? arrival.promptTokens,
    // Of a call that still runs, only its prompt is known. Most of an agent's prompt is usually cached.
    cachedTokens: usage === undefined ? arrival.promptTokens : (usage.cachedTokens ?? 0),
    outputTokens: usage?.outputTokens ?? 0,
  });
  return engines.map(({ engine }) =>
    calls.filter((call) => call.engine === engine && call.dispatchedMs >= sinceMs).map(served),
  );
}
