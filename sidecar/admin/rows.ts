import { QUANTUM_RATIO, WAIT_CAUSES } from '../../src/index.js';
import type { CallView, EngineView, ProgramId, ProgramView, ThreadView, Views } from '../../src/index.js';
import type { Context } from '../context.js';
import { isServing, type Engine } from '../engines/index.js';
import { labelOf } from '../identity/names.js';
import { WallClock } from '../watch/wall-clock.js';
import type { PastCall } from '../watch/past-calls.js';
import type { Range, TotalsView } from '../watch/totals.js';
import type * as Answers from './answers.js';
import type { ProgramQuery } from './query.js';
import { limitOf, longestWaiting, programState, seconds, secondsOr, shareRow, waitRow } from './wait-rows.js';
import { callInWords, type Setting } from './words.js';

/** The parts of the gateway that rows show. */
export type Shown = Pick<
  Context,
  | 'config'
  | 'draining'
  | 'driver'
  | 'fleet'
  | 'membership'
  | 'identified'
  | 'known'
  | 'pastCalls'
  | 'totals'
  | 'demo'
  | 'shadow'
  | 'cluster'
  | 'peers'
  | 'batches'
>;

type Known = Pick<Context, 'driver' | 'known' | 'peers'>;

/** The scheduler's state in admin answers: base units, the same shape everywhere. */

const CLOCK = new WallClock();
/** Unix time of a moment on the driver's clock. */
export function unixSeconds(ms: number): number {
  CLOCK.adjust();
  return seconds(CLOCK.at(ms));
}

/** Calls of one program to show, the oldest first: thousands in every answer would help nobody. */
export const CALLS_MAX = 100;

/** Rows of programs, each with the present cause of its longest wait. */
export function programRows({ driver, known, peers }: Known, rows: readonly ProgramView[]): Answers.Program[] {
  const { views } = driver;
  const now = driver.now();
  const longest = rows.map(longestWaiting);
  const causes = views.causesOf(longest.flatMap((call) => call?.call ?? []));
  const gateway = peers?.gateway ?? null;
  return rows.map((row, at) => ({
    ...programRow(row, longest[at], causes, now),
    ...toldRow(known.of(row.id)),
    gateway,
  }));
}

/** Those of a query's page. */
export function programPage(
  context: Known,
  rows: readonly ProgramView[],
  { limit, offset }: Pick<ProgramQuery, 'limit' | 'offset'>,
): Answers.ProgramPage {
  return { programs: programRows(context, rows.slice(offset, offset + limit)), total: rows.length, limit, offset };
}

function programRow(
  row: ProgramView,
  longest: ThreadView | undefined,
  causes: ReturnType<Views['causesOf']>,
  now: number,
): Omit<Answers.Program, 'gateway' | keyof ReturnType<typeof toldRow>> {
  return {
    id: labelOf(row.id),
    tenant: row.tenant,
    /** The scheduler's own id, unique among tenants. */
    key: row.id,
    state: programState(row),
    level: row.level,
    attained_service_seconds: seconds(row.serviceMs),
    waiting_seconds: seconds(row.waitingMs),
    longest_wait_seconds: seconds(row.waitMsMax),
    current_wait_seconds: seconds(longest?.waitingMs ?? 0),
    current_wait_cause: (longest && causes.get(longest.call)) ?? null,
    engine: row.home ?? row.engines[0] ?? null,
    engines: [...row.engines],
    active_calls: row.activeCalls,
    calls: row.callsTotal,
    promotions: row.promotions,
    context_tokens: row.contextTokens,
    on_host_tokens: row.onHostTokens,
    prompt_tokens: row.promptTokens,
    cached_tokens: row.cachedTokens,
    output_tokens: row.outputTokens,
    age_seconds: seconds(now - row.createdAtMs),
    idle_seconds: row.activeCalls > 0 ? 0 : seconds(now - (row.lastCompletionAtMs ?? row.lastArrivalAtMs)),
  };
}

const toldRow = (told: ReturnType<Context['known']['of']>) => ({
  model: told?.model ?? null,
  identified_by: told?.identifiedBy ?? null,
  agent_type: told?.agentType ?? null,
});

/** The programs that have left the table. */
export function endedRows({ known }: Pick<Context, 'known'>): Answers.EndedPrograms {
  const programs = known.ended().map(({ gone, told, endedAtMs }) => ({
    id: labelOf(gone.program),
    key: gone.program,
    ...toldRow(told),
    cause: gone.cause,
    ended_at: unixSeconds(endedAtMs),
    duration_seconds: seconds(gone.durationMs),
    queue_seconds: seconds(gone.waitingMs),
    service_seconds: seconds(gone.serviceMs),
    calls: gone.calls,
    engine: told?.engine ?? null,
  }));
  return { programs };
}

/** One program with its threads, the root first, and the first `CALLS_MAX` active calls. */
export function programDetail(context: Known & Pick<Context, 'threads'>, row: ProgramView): Answers.ProgramDetail {
  const { driver, threads: agents } = context;
  const calls = agents.of(row.id);
  const { views } = driver;
  const now = driver.now();
  const setting = { balancer: views.balancerName, now, forecast: row.forecast };
  const shown = views.callsOf(row.id, CALLS_MAX);
  const oldest = row.threads.slice(0, CALLS_MAX);
  const ofAgents = [...calls.values()].reduce((sum, made) => sum + made, 0);
  const threads = [...new Map([['', row.callsTotal - ofAgents], ...calls])].filter(([, made]) => made > 0);
  return {
    ...(programRows(context, [row])[0] as Answers.Program),
    forecast: {
      source: row.forecast?.source ?? 'none',
      used: row.forecast?.used ?? false,
      remaining_seconds: Number.isFinite(row.forecast?.remainingMs) ? secondsOr(row.forecast?.remainingMs) : null,
    },
    threads: threads.map(([thread, made]) => {
      const active = oldest.flatMap((call) => {
        const view = shown.get(call.call);
        if (view === undefined || (calls.has(call.thread) ? call.thread : '') !== thread) return [];
        return [callRow(call, view, setting)];
      });
      return { thread, calls: made, active };
    }),
  };
}

function callRow(thread: ThreadView, view: CallView, setting: Setting): Answers.ActiveCall {
  const wait = view.waiting?.nearest;
  return {
    call: thread.call,
    state: thread.state,
    level: thread.level,
    model: thread.model,
    engine: thread.engine ?? null,
    waiting_seconds: seconds(thread.waitingMs),
    service_seconds: seconds(thread.serviceMs),
    waiting_for: wait === undefined ? null : waitRow(wait, setting.now),
    arrived_at: unixSeconds(thread.arrivedAtMs),
    first_token_at: thread.startedAtMs === undefined ? null : unixSeconds(thread.startedAtMs),
    text: callInWords(thread.call, view, setting),
  };
}

/** The latest calls of a program, which may have left the process table. */
export function pastCalls(context: Shown, program: ProgramId): Answers.PastCallList {
  return { calls: context.pastCalls.of(program).map(pastCallRow) };
}

function pastCallRow({ call, thread, model, endedAtMs, report }: PastCall): Answers.PastCall {
  const { dispatch, usage } = report;
  const inheritedMs = dispatch?.inheritedMs ?? 0;
  return {
    call,
    thread,
    model,
    outcome: report.outcome,
    status: report.status,
    code: report.code ?? null,
    arrived_at: unixSeconds(endedAtMs - report.durationMs),
    duration_seconds: seconds(report.durationMs),
    queue_seconds: seconds(Math.max(0, report.queueMs - inheritedMs)),
    inherited_seconds: seconds(inheritedMs),
    first_token_seconds: secondsOr(report.ttftMs),
    service_seconds: secondsOr(report.serviceMs),
    attempts: report.attempts,
    engine: dispatch?.engine ?? null,
    level: dispatch?.level ?? null,
    reason: dispatch?.reason ?? null,
    placement: dispatch?.placement ?? null,
    prompt_tokens: usage?.promptTokens ?? null,
    cached_tokens: usage?.cachedTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
  };
}

/** @param view of the last minutes */
export function engineRows(context: Shown, view = context.totals.read(context.driver.now())): Answers.EngineList {
  return { engines: context.fleet.list().map((engine) => engineRow(context, engine, view.sum.byEngine)) };
}

/** @param prompts of the last minutes, by engine */
export function engineRow(
  context: Shown,
  engine: Engine,
  prompts = context.totals.read(context.driver.now()).sum.byEngine,
): Answers.Engine {
  const view = context.driver.views.engine(engine.id);
  return {
    id: engine.id,
    url: engine.url.href,
    kind: engine.adapter.kind,
    /** Its owner in the fleet; null: it is being removed. */
    source: context.membership.originOf(engine.id) ?? null,
    state: engine.state,
    down_since: engine.trouble === undefined ? null : unixSeconds(engine.trouble.sinceMs),
    down_reason: engine.trouble?.reason ?? null,
    probe_in_seconds: isServing(engine) || engine.state === 'draining' ? null : seconds(engine.probeInMs),
    models: [...engine.models.keys()],
    /** Null: the policy has no window, or the engine has not joined yet. */
    window: limitOf(view?.window),
    in_flight: view?.inFlight ?? 0,
    working_set_tokens: view?.workingSetTokens ?? 0,
    idle_tokens: view?.idleTokens ?? 0,
    gate_tokens: limitOf(view?.gateTokens),
    rest_tokens: limitOf(view?.restTokens),
    capacity_tokens: view?.capacityTokens ?? null,
    host_tokens: view?.hostTokens ?? 0,
    on_host_tokens: view?.onHostTokens ?? 0,
    cached_share: prompts.get(engine.id)?.cachedShare ?? null,
    resting: view?.resting ?? false,
    engine_running: engine.load.running ?? null,
    engine_waiting: engine.load.waiting ?? null,
    kv_usage: engine.load.kvUsage ?? null,
    all_gateways: context.cluster === undefined || view === undefined ? null : wholeRow(view.whole),
  };
}

const wholeRow = ({ window, inFlight, workingSetTokens, othersWaiting }: EngineView['whole']) => ({
  window: limitOf(window),
  in_flight: inFlight,
  working_set_tokens: workingSetTokens,
  others_waiting: othersWaiting,
});

export function queueRow(context: Shown): Answers.Queue {
  const { waiting, byLevel, byCause, longestWaitMs } = context.driver.queue();
  const { name, firstQuantumMs } = context.config.policy;
  const bounds =
    name !== 'plas' ? [] : byLevel.slice(1).map((_, level) => (firstQuantumMs * QUANTUM_RATIO ** level) / 1000);
  return {
    waiting,
    limit: context.config.limits.queuedMax,
    longest_wait_seconds: seconds(longestWaitMs),
    waiting_for: byCause,
    levels: byLevel.map((calls, level) => ({ level, waiting: calls, up_to_seconds: bounds[level] ?? null })),
  };
}

export function tenantRows({ config, driver }: Shown): Answers.TenantList {
  const tenants = driver.views.tenants().sort((a, b) => b.attainedShare - a.attainedShare);
  return { division: config.policy.tenants, tenants: tenants.map(shareRow) };
}

/** The sources that named the programs of the last calls. */
export function identityRow({ identified }: Shown) {
  const sources = identified.counts().map(([source, calls]) => ({ source, calls }));
  return { calls: sources.reduce((sum, { calls }) => sum + calls, 0), sources };
}

export function totalsRow({ steps, sum, stepMs }: TotalsView, { shadow }: Pick<Shown, 'shadow'>): Answers.TotalsAnswer {
  const spread = (times: typeof sum.queues) => ({
    count: times.count,
    mean: secondsOr(times.meanMs),
    p50: secondsOr(times.quantileMs(0.5)),
    p99: secondsOr(times.quantileMs(0.99)),
  });
  return {
    window_seconds: seconds(steps.length * stepMs),
    program_completion_seconds: spread(sum.completions),
    queue_seconds: spread(sum.queues),
    cached_share: sum.prompts.cachedShare,
    output_tokens: sum.outputTokens,
    promoted_calls: sum.promoted,
    shadow: shadow?.latest() ?? null,
  };
}

/** The steps of a range as columns. */
export function historyRow({ steps, stepMs, firstMs, marks }: TotalsView, range: Range): Answers.History {
  const spread = (times: 'queues' | 'completions') => ({
    count: steps.map((step) => step[times].count),
    p50: steps.map((step) => secondsOr(step[times].quantileMs(0.5))),
    p99: steps.map((step) => secondsOr(step[times].quantileMs(0.99))),
  });
  const means = steps.map(({ readings }) => readings.toJSON());
  const mean = (name: string) => means.map((reading) => rounded(reading[name]));
  return {
    range,
    from: unixSeconds(firstMs),
    step_seconds: seconds(stepMs),
    program_completion_seconds: spread('completions'),
    queue_seconds: spread('queues'),
    cached_share: steps.map(({ prompts }) => prompts.cachedShare),
    waiting: Object.fromEntries(
      WAIT_CAUSES.map((cause) => [cause, mean(cause)]),
    ) as unknown as Answers.History['waiting'],
    in_flight: mean('in_flight'),
    window: mean('slots'),
    working_set_tokens: mean('working_set_tokens'),
    gate_tokens: mean('gate_tokens'),
    marks: marks.map(({ atMs, text }) => ({ at: unixSeconds(atMs), text })),
  };
}

/** Means need no more than a tenth. */
const rounded = (value: number | undefined): number | null =>
  value === undefined ? null : Math.round(10 * value) / 10;
