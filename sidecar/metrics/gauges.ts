import type { Participant } from '../../cluster/index.js';
import { tenantId, type EngineView, type TenantView } from '../../src/index.js';
import type { BatchView } from '../batches/work.js';
import type { Parts } from '../context.js';
import type { SourceState } from '../discovery/discovery.js';
import { TOLD_STATES, isServing, type Engine } from '../engines/index.js';
import { VERSION } from '../version.js';
import { IS_STUCK } from '../engines/stall.js';
import { crowdedSince, overloadSeconds } from '../watch/overload.js';
import { scrapedInto, type Scraped } from './scraped.js';
import { OTHER } from './sums.js';

/** Metrics that are read from the scheduler and the fleet during a scrape, and cost nothing otherwise. */
export function registerGauges(context: Parts): void {
  const { driver, metrics } = context;
  const scraped = scrapedInto(metrics.registry);
  scraped('calls_in_system', 'Accepted calls that have not ended.', [], () => driver.callsInSystem);
  scraped('draining', '1 while the gateway shuts down and refuses new calls.', [], () => (context.draining ? 1 : 0));
  scraped('config_last_reload_successful', '0 once a reload was refused, until one is accepted.', [], () =>
    context.reloadRefused === undefined ? 1 : 0,
  );
  scraped('body_bytes', 'Request bodies of calls that are read, wait or run.', [], () => context.held.bytes);
  scraped('body_limit_bytes', 'Most bytes of such bodies.', [], () => context.config.limits.queuedBytes);
  const { totals, views } = driver.scheduler;
  scraped('starvation_promotions_total', 'Calls moved to the front because they starved.', [], () => totals.promotions);
  scraped('overdue_promotions_total', 'Of these, those that had waited as long as allowed.', [], () => totals.overdue);
  scraped('invariant_violations_total', 'Faults that the core found in itself.', [], () => totals.violations);
  scraped('retries_joined_total', 'Calls that took over the place of an earlier try.', [], () => totals.rejoined);
  scraped('programs', 'Rows of the process table.', [], () => views.programCount);
  scraped('programs_limit', 'Most rows of the process table.', [], () => context.config.limits.programsMax);
  scraped('kept_places', 'Calls that left the queue and whose place is kept for a retry.', [], () => views.ghosts);
  scraped('spills_total', 'Calls that ran away from their program’s engine.', [], () => totals.spilled);
  scraped('queue_limit_calls', 'Most calls that may wait.', [], () => context.config.limits.queuedMax);
  scraped('longest_wait_seconds', 'Longest wait of a waiting call.', [], () => driver.queue().longestWaitMs / 1000);
  scraped('overload_seconds', 'For how long more calls have waited for room than run; 0: no overload.', [], () =>
    overloadSeconds(crowdedSince(context.totals.read(driver.now()))),
  );
  scraped('queue_calls', 'Calls that wait, by level.', ['level'], () =>
    driver.queue().byLevel.map((waiting, level) => [{ level }, waiting]),
  );
  scraped('waiting_calls', 'Calls that wait, by the cause that is nearest to its end.', ['cause'], () =>
    Object.entries(driver.queue().byCause).map(([cause, calls]) => [{ cause }, calls]),
  );
  registerTenantGauges(scraped, context);
  registerEngineGauges(scraped, context);
  registerSourceGauges(scraped, context);
  registerCluster(scraped, context);
  registerBatches(scraped, context);
  registerShadow(scraped, context);
  scraped('info', '1, with the version and the policies in force as labels.', ['version', 'policy', 'balancer'], () => {
    const { policy, balancer } = context.config;
    return [[{ version: VERSION, policy: policy.name, balancer: balancer.name }, 1]];
  });
}

function registerBatches(scraped: Scraped, context: Parts): void {
  const open = () => context.batches?.batches?.underWay() ?? [];
  const sum = (of: (batch: BatchView) => number) => open().reduce((all, batch) => all + of(batch), 0);
  scraped('batches', 'Batches under way on this gateway.', [], () => open().length);
  scraped('batch_lines', 'Lines of these batches, by state.', ['state'], () => [
    [{ state: 'completed' }, sum((batch) => batch.request_counts.completed)],
    [{ state: 'failed' }, sum((batch) => batch.request_counts.failed)],
    [{ state: 'in_flight' }, sum((batch) => batch.inFlight)],
    [{ state: 'ready' }, sum((batch) => batch.ready)],
  ]);
  scraped(
    'batches_unwritable',
    'Of these batches, the ones whose answers wait in memory, as the folder takes none.',
    [],
    () => (context.batches?.batches?.fault === undefined ? 0 : open().length),
  );
  scraped('batches_late', 'Of these batches, the ones whose window would end too early.', [], () =>
    sum((batch) => Number(batch.isLate)),
  );
}

/** Shares of engine time have no series where `policy.tenants` is `none`. */
function registerTenantGauges(scraped: Scraped, { driver, metrics }: Parts): void {
  scraped('tenant_waiting_calls', 'Calls of the tenant that wait.', ['tenant'], () => {
    const { views } = driver.scheduler;
    const own = [...metrics.tenants.values()].filter((tenant) => tenant !== OTHER);
    const waiting = own.map((tenant) => [{ tenant }, views.waitingOf(tenantId(tenant))] as const);
    const others = waiting.reduce((left, [, calls]) => left - calls, views.waiting);
    return others > 0 ? [...waiting, [{ tenant: OTHER }, others]] : waiting;
  });
  const ofTenant = (name: string, help: string, read: (view: TenantView) => number | undefined) =>
    scraped(`tenant_${name}`, help, ['tenant'], () => {
      const own = new Set(metrics.tenants.values());
      return driver.scheduler.views
        .tenants()
        .map((view) => [{ tenant: own.has(view.tenant) ? view.tenant : OTHER }, read(view) ?? 0]);
    });
  ofTenant('attained_share', 'Share of the engine time of about the last minute.', (view) => view.attainedShare);
  ofTenant('due_share', 'Share of engine time due among the tenants with calls, 0 without.', (view) => view.dueShare);
}

function registerEngineGauges(scraped: Scraped, context: Parts): void {
  const { fleet, driver } = context;
  const ofEngine = (name: string, help: string, read: (engine: Engine) => number | undefined) =>
    scraped(`engine_${name}`, help, ['engine'], () =>
      fleet.list().flatMap((engine) => {
        const value = read(engine);
        return value === undefined ? [] : [[{ engine: engine.id }, value] as const];
      }),
    );
  const ofView = (name: string, help: string, read: (view: EngineView) => number | undefined) =>
    ofEngine(name, help, ({ id }) => {
      const view = driver.scheduler.views.engine(id);
      return view && read(view);
    });
  ofView('in_flight_calls', 'Calls in flight there, also while it is down.', (view) => view.inFlight);
  ofView('window_calls', 'Most calls in flight now.', (view) => view.window);
  ofView('working_set_tokens', 'Contexts of the programs that it keeps running.', (view) => view.workingSetTokens);
  ofView('capacity_tokens', 'The engine’s KV cache.', (view) => view.capacityTokens);
  ofView('gate_tokens', 'Most tokens of running contexts, the gate.', ({ gateTokens: most }) =>
    most === Infinity ? undefined : most,
  );
  ofEngine('up', '1 while the engine takes calls.', (engine) => (isServing(engine) ? 1 : 0));
  scraped('engine_state', '1 for the engine’s state, 0 for the others.', ['engine', 'state'], () =>
    fleet
      .list()
      .flatMap((engine) =>
        TOLD_STATES.map((state) => [{ engine: engine.id, state }, Number(engine.told === state)] as const),
      ),
  );
  ofEngine(
    'silent_seconds',
    'Since its last good answer while it misses probes or is down, 0 otherwise; its calls may hang.',
    (engine) => engine.silentMs / 1000,
  );
  ofEngine('stuck', '1 while it is down because it has requests and runs none.', ({ trouble }) =>
    Number(trouble?.reason.startsWith(IS_STUCK) === true),
  );
  ofEngine(
    'ejections_total',
    'Times that the engine was taken out of service because it failed.',
    (engine) => engine.ejections,
  );
}

function registerSourceGauges(scraped: Scraped, { discovery, fleet }: Parts): void {
  const each = (name: string, help: string, read: (state: SourceState) => number) =>
    scraped(`discovery_${name}`, help, ['source'], () =>
      discovery.sources.map((state) => [{ source: state.label }, read(state)]),
    );
  scraped('awaited_models', 'Models whose calls wait also while no engine is found.', [], () => fleet.awaited.size);
  each('failures_total', 'Looks of the source that failed or found no engine.', (state) => state.failures);
  each('found_timestamp_seconds', 'When the source last found engines.', ({ foundAtMs }) => foundAtMs / 1000);
}

/** Metrics of state shared by gateways; no samples if sharing is off. */
function registerCluster(scraped: Scraped, context: Parts): void {
  const each = (name: string, help: string, read: (cluster: Participant) => number) =>
    scraped(`cluster_${name}`, help, ['pool'], () => {
      const { cluster, config } = context;
      return cluster === undefined ? [] : [[{ pool: config.cluster.pool }, read(cluster)]];
    });
  each('store_up', '1 while the gateway shares state with others, 0 while it continues alone.', ({ shared }) =>
    Number(shared.state.up),
  );
  each('gateways', 'Live gateways of the pool, this one included, as last heard.', ({ shared }) => shared.state.live);
  each('gateways_expected', 'As many as `cluster.gateways` says.', () => context.config.cluster.gateways);
  each('store_failures_total', 'Store operations that failed or were late.', ({ shared }) => shared.state.failures);
  scraped('cluster_takes_total', 'Programs that the store was asked for before a call, by result.', ['result'], () =>
    Object.entries(context.cluster?.takes ?? {}).map(([result, programs]) => [{ result }, programs]),
  );
}

/** The latest estimate of the gain over `pass-through`; a pool without one has no series. */
function registerShadow(scraped: Scraped, context: Parts): void {
  scraped(
    'shadow_gain_ratio',
    'Mean program time under pass-through over that under the policy in force, estimated: the ratio and its interval.',
    ['model', 'bound'],
    () =>
      (context.shadow?.latest()?.pools ?? []).flatMap(({ models, gain }) => {
        if (gain === null) return [];
        const bounds = { mean: gain.ratio, low: gain.ratio_low, high: gain.ratio_high };
        return Object.entries(bounds).map(([bound, ratio]) => [{ model: models[0] ?? '', bound }, ratio] as const);
      }),
  );
}
