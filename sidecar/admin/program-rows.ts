import { engineId, type CallId, type ProgramView } from '../../src/index.js';
import { budgetOf } from '../calls/budget.js';
import type { Parts } from '../context.js';
import { isServing, type Engine } from '../engines/index.js';
import { labelOf, tenantOf } from '../identity/names.js';
import type * as Answers from './answers.js';
import { callRow } from './call-rows.js';
import { DOWN_SHOWN, seconds, secondsOr, unixSeconds } from './figures.js';
import { idleSinceMs, longestWaiting, programState, type ProgramQuery } from './query.js';
import { whyEnded } from './run-words.js';
import { engineRow } from './state-rows.js';
import { engineRemedy, troubleOf } from './engine-words.js';

/** Calls of one program to show, the oldest first: thousands in every answer would help nobody. */
const CALLS_MAX = 100;

/** Rows of programs, each with the present cause of its longest wait. */
function programRows({ driver, fleet, known, peers }: Parts, rows: readonly ProgramView[]): Answers.Program[] {
  const { views } = driver;
  const now = driver.now();
  const longest = rows.map(longestWaiting);
  const causes = views.causesOf(longest.flatMap((call) => call?.call ?? []));
  const gateway = peers?.gateway ?? null;
  return rows.map((row, at) => {
    const waits = longest[at];
    return {
      id: labelOf(row.id),
      tenant: row.tenant,
      key: row.id,
      state: programState(row),
      level: row.level,
      background: row.background || (row.activeCalls === 0 && known.of(row)?.isBackground === true),
      attained_service_seconds: seconds(row.serviceMs),
      waiting_seconds: seconds(row.waitingMs),
      longest_wait_seconds: seconds(row.waitMsMax),
      current_wait_seconds: seconds(waits?.waitingMs ?? 0),
      current_wait_cause: (waits && causes.get(waits.call)) ?? null,
      engine: row.home ?? row.engines[0] ?? null,
      engines: [...row.engines],
      engines_down: row.engines.filter((id) => fleet.get(id)?.told === 'down'),
      active_calls: row.activeCalls,
      calls: row.callsTotal,
      promotions: row.promotions,
      context_tokens: row.contextTokens,
      on_host_tokens: row.onHostTokens,
      prompt_tokens: row.promptTokens,
      cached_tokens: row.cachedTokens,
      output_tokens: row.outputTokens,
      age_seconds: seconds(now - row.createdAtMs),
      idle_seconds: seconds(Math.max(0, now - idleSinceMs(row))),
      ...toldRow(known.of(row)),
      gateway,
    };
  });
}

export function programPage(
  context: Parts,
  rows: readonly ProgramView[],
  { limit, offset }: Pick<ProgramQuery, 'limit' | 'offset'>,
): Answers.ProgramPage {
  return { programs: programRows(context, rows.slice(offset, offset + limit)), total: rows.length, limit, offset };
}

export const toldRow = (told: ReturnType<Parts['known']['of']>) => ({
  model: told?.model ?? null,
  identified_by: told?.identifiedBy ?? null,
  agent_type: told?.agentType ?? null,
});

export function endedRows({ known }: Parts): Answers.EndedPrograms {
  const programs = known.lastEnded().map(({ gone, told, endedAtMs }) => ({
    id: labelOf(gone.program),
    tenant: tenantOf(gone.program),
    key: gone.program,
    ...toldRow(told),
    cause: told?.isStopped ? ('operator' as const) : gone.cause,
    answered: told?.isAnswered ?? true,
    ended_at: unixSeconds(endedAtMs),
    duration_seconds: seconds(gone.durationMs),
    queue_seconds: seconds(gone.waitingMs),
    service_seconds: seconds(gone.serviceMs),
    calls: gone.calls,
    calls_seconds: seconds(told?.callsMs ?? 0),
    prompt_tokens: told?.tokens.prompt ?? 0,
    output_tokens: told?.tokens.output ?? 0,
    engine: told?.engine ?? null,
  }));
  return { programs: programs.map((row) => ({ ...row, why: whyEnded(row) })) };
}

/** One program with its threads, the root first. @param shown those of its active calls that are told */
export function programDetail(
  context: Parts,
  row: ProgramView,
  shown = context.driver.views.callsOf(row.id, CALLS_MAX),
): Answers.ProgramDetail {
  const { active, config, driver, fleet, known, repeats } = context;
  const told = known.of(row);
  const agents: ReadonlyMap<string, number> = told?.threads ?? new Map<string, number>();
  const now = driver.now();
  const recent = context.totals.read(now);
  const rowOf = (engine: Engine) => engineRow(context, engine, recent);
  const troubleIn = (row: Answers.Engine, isMissed = true) => ({
    id: row.id,
    text: troubleOf(row),
    remedy: engineRemedy([row], isMissed),
  });
  const troubles = (model: string) => {
    const rows = fleet.serving(model).map(rowOf);
    const troubled = rows.filter((row) => !isServing(row) || row.failing);
    return troubled.slice(0, DOWN_SHOWN).map((row) => troubleIn(row, rows.length < 2));
  };
  const troubleAt = (id: string) => {
    const engine = fleet.get(engineId(id));
    const isDown = engine?.told === 'down';
    if (engine === undefined || !(isDown || engine.silentMs > 0)) return undefined;
    return { ...troubleIn(rowOf(engine)), downMs: isDown ? now - (engine.trouble?.sinceMs ?? now) : undefined };
  };
  const setting = {
    policy: driver.views.policyName,
    order: config.policy.order,
    levels: driver.queue().byLevel.length,
    balancer: driver.views.balancerName,
    now,
    forecast: row.forecast,
    timeouts: config.timeouts,
    failures: (id: CallId) => active.find(id)?.failures,
    troubles,
    troubleAt,
    expected: driver.expected,
    engine: (id: string) => driver.views.engine(engineId(id)),
    holders: (id: string) => driver.views.holders(engineId(id)),
    queues: (id: string) => (fleet.get(engineId(id))?.load.waiting ?? 0) > 0,
  };
  const ofAgents = [...agents.values()].reduce((sum, made) => sum + made, 0);
  const calls = [...new Map([['', row.callsTotal - ofAgents], ...agents])].filter(([, made]) => made > 0);
  return {
    ...(programRows(context, [row])[0] as Answers.Program),
    forecast: {
      source: row.forecast?.source ?? 'none',
      used: row.forecast?.used ?? false,
      remaining_seconds: Number.isFinite(row.forecast?.remainingMs) ? secondsOr(row.forecast?.remainingMs) : null,
    },
    budget: budgetOf(config, { tenant: row.tenant, workflow: told?.workflow }, told?.budget, () => ({
      ...row,
      repeats: repeats.of(row.id),
    })),
    ending: row.removed === undefined ? null : told?.isStopped ? 'operator' : row.removed,
    threads: calls.map(([thread, made]) => ({ thread, calls: made })),
    // Of sub-agents that are not told apart, the root stands for all.
    active: [...shown.values()].map((call) => callRow(call, agents.has(call.thread) ? call.thread : '', setting)),
  };
}
