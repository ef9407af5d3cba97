import { randomBytes } from 'node:crypto';
import type { GatewayId } from '../../cluster/index.js';
import { WAIT_CAUSES, type EngineView } from '../../src/index.js';
import type { Parts } from '../context.js';
import { isServing, type Engine } from '../engines/index.js';
import { CONFIGURED } from '../engines/inspect.js';
import { joined } from '../engines/load.js';
import { crowdedSince } from '../watch/overload.js';
import { recoveryOf } from '../watch/recovery.js';
import { joined as stepOf, type Durations } from '../watch/steps.js';
import { faultOf, type Range, type TotalsView } from '../watch/totals.js';
import type * as Answers from './answers.js';
import { limitOf, seconds, secondsOr, unixSeconds } from './figures.js';
import { engineInWords, failsNow } from './engine-words.js';
import { statusOf } from './status.js';

export function engineRows(context: Parts, view: TotalsView): Answers.EngineList {
  return { engines: context.fleet.list().map((engine) => engineRow(context, engine, view)) };
}

/** @param recent the last five minutes */
export function engineRow(context: Parts, engine: Engine, recent: TotalsView): Answers.Engine {
  const known = context.driver.views.engine(engine.id);
  // The scheduler keeps the row of an engine that is down, whose cache is gone; calls may hang there still.
  const view = engine.state === 'down' ? undefined : known;
  const outages = recent.outages.filter((each) => each.engine === engine.id);
  const drainedMs =
    engine.state === 'draining' ? outages.findLast(({ untilMs }) => untilMs === undefined)?.fromMs : undefined;
  const downMs = engine.trouble?.sinceMs ?? drainedMs;
  const row = {
    id: engine.id,
    url: engine.url.href,
    kind: engine.adapter.kind,
    source: context.membership.originOf(engine.id) ?? null,
    state: engine.told,
    down_since: downMs === undefined ? null : unixSeconds(downMs),
    down_reason: engine.trouble?.reason ?? null,
    outages: outages.map(({ fromMs, untilMs, reason }) => ({
      from: unixSeconds(fromMs),
      until: untilMs === undefined ? null : unixSeconds(untilMs),
      reason,
    })),
    silent_seconds: secondsOr(engine.silentMs || null),
    was_up: engine.state !== 'starting',
    probe_in_seconds: isServing(engine) || engine.state === 'draining' ? null : seconds(engine.probeInMs),
    models: [...engine.models.keys()],
    unlisted_models: [...engine.models].flatMap(([id, entry]) => (entry['owned_by'] === CONFIGURED ? [id] : [])),
    window: limitOf(view?.window),
    // Of an engine that is to be empty, all that is left.
    in_flight: engine.state === 'draining' ? engine.inFlight : (known?.inFlight ?? 0),
    working_set_tokens: view?.workingSetTokens ?? 0,
    idle_tokens: view?.idleTokens ?? 0,
    gate_tokens: limitOf(view?.gateTokens),
    rest_tokens: limitOf(view?.restTokens),
    // The scheduler forgets an engine that has drained.
    capacity_tokens: (known ?? joined(engine)).capacityTokens ?? null,
    host_tokens: view?.hostTokens ?? 0,
    on_host_tokens: view?.onHostTokens ?? 0,
    cached_share: recent.sum.cached.of(engine.id),
    first_token_seconds: spreadOf(recent.sum.firstTokensOf(engine.id)),
    resting: view?.resting ?? false,
    refused_seconds: secondsOr(Math.max(0, (view?.refusedUntilMs ?? 0) - context.driver.now()) || null),
    failures: failuresRow(engine, recent),
    engine_running: engine.load.running ?? null,
    engine_waiting: engine.load.waiting ?? null,
    kv_usage: engine.load.kvUsage ?? null,
    all_gateways: context.cluster === undefined || view === undefined ? null : wholeRow(view.whole),
  };
  return { ...row, failing: failsNow(row), text: engineInWords(row) };
}

/** Null: none failed. An attempt may have been sent before the last minutes, and have failed in them. */
function failuresRow({ id, evidence }: Engine, view: TotalsView): Answers.Engine['failures'] {
  const [failed, sent] = view.sum.failures.sumsOf(id);
  if (failed === 0) return null;
  const failures = failuresOf(view, 'failures', id);
  // Other gateways may have failures of an engine that failed none here.
  const began_at = Math.min(unixSeconds(evidence.failingSinceMs), failures.last_at);
  return { attempts: Math.max(failed, sent), ...recoveryOf(id, view), began_at, ...failures };
}

/** How many there were by that name, the time of the last, and what was told of it. */
function failuresOf({ sum }: TotalsView, of: 'ends' | 'failures', name: string): Answers.Failures {
  const [calls, , told = ''] = sum[of].sumsOf(name);
  const [at] = told.split(' ', 1) as [string];
  return { calls, last_at: Number(at), last: told.slice(at.length + 1) };
}

const wholeRow = ({ window, inFlight, workingSetTokens }: EngineView['whole']) => ({
  window: limitOf(window),
  in_flight: inFlight,
  working_set_tokens: workingSetTokens,
});

export function queueRow({ config, driver }: Parts): Answers.Queue {
  const { waiting, background, byCause, longestWaitMs } = driver.queue();
  return {
    waiting,
    background,
    limit: config.limits.queuedMax,
    longest_wait_seconds: seconds(longestWaitMs),
    waiting_for: byCause,
  };
}

const spreadOf = (times: Durations) => ({
  count: times.count,
  p50: secondsOr(times.quantileMs(0.5)),
  p99: secondsOr(times.quantileMs(0.99)),
});

export function totalsRow(view: TotalsView, { shadow }: Parts): Answers.TotalsAnswer {
  const { steps, sum, stepMs } = view;
  return {
    window_seconds: seconds(steps.length * stepMs),
    program_completion_seconds: spreadOf(sum.completions),
    programs_unanswered: sum.unanswered.count,
    calls: sum.ends.count,
    failed: [...sum.ends]
      .filter(([end]) => end !== 'completed')
      .map(([code]) => {
        const { last: whose, ...failures } = failuresOf(view, 'ends', code);
        const [last = '', engine = null] = whose.split('\n');
        return { code, fault: faultOf(code), ...failures, last, engine };
      })
      .sort((a, b) => b.fault.localeCompare(a.fault) || b.calls - a.calls),
    left: { waiting: sum.left.sumsOf('waiting')[0], running: sum.left.sumsOf('running')[0] },
    queue_seconds: spreadOf(sum.queues),
    cached_share: sum.cached.whole,
    shadow: shadow?.latest() ?? null,
    crowded_since: crowdedSince(view),
  };
}

export function historyRow({ steps, stepMs, firstMs, marks }: TotalsView, range: Range): Answers.History {
  const spread = (times: 'queues' | 'completions') => ({
    count: steps.map((step) => step[times].count),
    p50: steps.map((step) => secondsOr(step[times].quantileMs(0.5))),
    p99: steps.map((step) => secondsOr(step[times].quantileMs(0.99))),
  });
  const mean = (name: string) => steps.map(({ readings }) => tenths(readings.of(name)));
  return {
    range,
    from: unixSeconds(firstMs),
    step_seconds: seconds(stepMs),
    program_completion_seconds: spread('completions'),
    queue_seconds: spread('queues'),
    cached_share: steps.map(({ cached }) => cached.whole),
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
const tenths = (value: number | null): number | null => (value === null ? null : Math.round(10 * value) / 10);

/** Changes with every start, so that a page knows when the history that it shows is of another process. */
export const INSTANCE = randomBytes(6).toString('hex');

/** Queues and batches of all gateways, but for the strange ones: they are of another version. */
export interface State {
  readonly queue: Answers.Queue;
  readonly batches: readonly Answers.Batch[];
  readonly ended: readonly Answers.EndedBatch[];
  readonly strange: readonly GatewayId[];
}

/** Half a minute: what calls wait for changes from second to second. */
const LATELY_STEPS = 6;

/** @param view of the last five minutes */
export function gatewayRow(
  context: Parts,
  state: State,
  view: TotalsView,
  { engines } = engineRows(context, view),
): Answers.GatewayState {
  const { driver, draining, demo, shadow } = context;
  const { queue, batches, ended } = state;
  const cluster = clusterRow(context, state);
  const waits = stepOf(view.steps.slice(-LATELY_STEPS)).readings;
  return {
    api: 3,
    instance: INSTANCE,
    policy: driver.views.policyName,
    draining,
    status: statusOf(context, { engines, queue, batches, cluster, totals: totalsRow(view, context), waits }),
    demo: demo === undefined ? null : demo.progress === undefined ? 'idle' : 'running',
    demo_programs: demo?.progress ?? null,
    estimates: shadow !== undefined,
    cluster,
    batches,
    ended_batches: ended,
  };
}

function clusterRow({ cluster, config, peers }: Parts, { strange }: State): Answers.GatewayState['cluster'] {
  if (cluster === undefined) return null;
  const { sinceMs, live, gateways, failures, error } = cluster.shared.state;
  return {
    pool: config.cluster.pool,
    standing: cluster.standing,
    standing_seconds: seconds(Math.max(0, performance.now() - sinceMs)),
    live,
    gateways: [...gateways],
    silent: [...(peers?.silent ?? [])],
    other_version: strange,
    failures,
    last_failure: error ?? null,
  };
}
