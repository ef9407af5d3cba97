import { Counter, Gauge } from 'prom-client';
import { tenantId, type EngineView, type TenantView } from '../../src/index.js';
import type { Context } from '../context.js';
import { isServing } from '../engines/index.js';
import type { SourceState } from '../discovery/index.js';
import { ENGINE_STATES, type Engine } from '../engines/index.js';
import { VERSION } from '../version.js';
import { registerForecasts } from './forecasts.js';
import { registerCluster } from './cluster.js';
import { OTHER } from './sums.js';

/** The parts of the gateway that this file uses. */
type Parts = Pick<
  Context,
  | 'config'
  | 'draining'
  | 'driver'
  | 'fleet'
  | 'membership'
  | 'discovery'
  | 'metrics'
  | 'held'
  | 'sessions'
  | 'warms'
  | 'cluster'
>;

const MEMORY_TOTALS = [
  ['warms', 'Contexts that engines were to compute again before their threads return.', 'warms'],
  ['warms_cancelled', 'Of these, the ones that made way for a call.', 'cancelled'],
  ['warms_failed', 'Of these, the ones that no engine carried out.', 'failed'],
  ['warmed_tokens', 'Prompt tokens that engines computed for warms.', 'warmedTokens'],
  ['useful_tokens', 'Of these, the ones that the thread’s next call found cached.', 'usefulTokens'],
  ['wasted_tokens', 'Of these, the ones that it did not find, or that no call came for.', 'wastedTokens'],
] as const;

/** Metrics that are read from the scheduler and the fleet during a scrape, and cost nothing otherwise. */
export function registerGauges(context: Parts): void {
  const { driver, metrics } = context;
  const { registry } = metrics;
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `maitred_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  const total = (name: string, help: string, read: () => number) =>
    new Counter({
      name: `maitred_${name}`,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });

  gauge('calls_in_system', 'Accepted calls that have not ended.', () => driver.callsInSystem);
  gauge('draining', '1 while the gateway shuts down and refuses new calls.', () => (context.draining ? 1 : 0));
  gauge('body_bytes', 'Request bodies of calls that are read, wait or run.', () => context.held.bytes);
  gauge('body_limit_bytes', 'Most bytes of such bodies.', () => context.config.limits.queuedBytes);
  gauge('programs', 'Rows of the process table.', () => driver.scheduler.views.programCount);
  gauge('programs_limit', 'Most rows of the process table.', () => context.config.limits.programsMax);
  const { totals } = driver.scheduler;
  total('starvation_promotions_total', 'Calls moved to the front because they starved.', () => totals.promotions);
  total(
    'overdue_promotions_total',
    'Of these, the ones that had waited for the longest time allowed.',
    () => totals.overdue,
  );
  total('invariant_violations_total', 'Faults that the core found in itself.', () => totals.violations);
  total('retries_joined_total', 'Calls that took over the place of an earlier try.', () => totals.rejoined);
  gauge(
    'kept_places',
    'Calls that left the queue and whose place is kept for a retry.',
    () => driver.scheduler.views.ghosts,
  );
  total('spills_total', 'Calls that ran away from their program’s engine.', () => totals.spilled);
  for (const [name, help, key] of MEMORY_TOTALS)
    total(`memory_${name}_total`, help, () => driver.scheduler.memory[key]);
  total(
    'memory_sessions_closed_total',
    'Sessions closed on engines that keep them.',
    () => context.sessions.closedTotal,
  );
  gauge('memory_prompt_bytes', 'Requests kept in memory for warms.', () => context.warms.prompts.bytes);
  gauge('queue_limit_calls', 'Most calls that may wait.', () => context.config.limits.queuedMax);
  gauge(
    'longest_wait_seconds',
    'Wait so far of the call that has waited longest.',
    () => driver.queue().longestWaitMs / 1000,
  );
  registerWaitGauges(context);
  registerInfo(context);
  registerTenantGauge(context);
  registerShareGauges(context);
  registerEngineGauges(context);
  registerSourceGauges(context);
  registerForecasts(context);
  registerCluster(context);
}

function registerWaitGauges({ driver, metrics }: Parts): void {
  const registers = [metrics.registry];
  new Gauge({
    name: 'maitred_queue_calls',
    help: 'Calls that wait, by level.',
    labelNames: ['level'],
    registers,
    collect() {
      this.reset();
      driver.queue().byLevel.forEach((waiting, level) => this.set({ level }, waiting));
    },
  });
  new Gauge({
    name: 'maitred_waiting_calls',
    help: 'Calls that wait, by the cause that is nearest to its end; all causes are always there.',
    labelNames: ['cause'],
    registers,
    collect() {
      for (const [cause, calls] of Object.entries(driver.queue().byCause)) this.set({ cause }, calls);
    },
  });
}

function registerInfo(context: Parts): void {
  new Gauge({
    name: 'maitred_info',
    help: '1, with the version and the policies in force as labels.',
    labelNames: ['version', 'policy', 'balancer'],
    registers: [context.metrics.registry],
    collect() {
      this.reset();
      const { policy, balancer } = context.config;
      this.set({ version: VERSION, policy: policy.name, balancer: balancer.name }, 1);
    },
  });
}

function registerTenantGauge({ driver, metrics }: Parts): void {
  new Gauge({
    name: 'maitred_tenant_waiting_calls',
    help: 'Calls of the tenant that wait.',
    labelNames: ['tenant'],
    registers: [metrics.registry],
    collect() {
      this.reset();
      const { views } = driver.scheduler;
      let others = views.waiting;
      for (const tenant of metrics.tenants.values()) {
        if (tenant === OTHER) continue;
        const waiting = views.waitingOf(tenantId(tenant));
        this.set({ tenant }, waiting);
        others -= waiting;
      }
      if (others > 0) this.set({ tenant: OTHER }, others);
    },
  });
}

/** Shares of engine time; no series where `policy.tenants` is `none`. */
function registerShareGauges({ driver, metrics }: Parts): void {
  const ofTenant = (name: string, help: string, read: (view: TenantView) => number | undefined) =>
    new Gauge({
      name: `maitred_tenant_${name}`,
      help,
      labelNames: ['tenant'],
      registers: [metrics.registry],
      collect() {
        this.reset();
        const own = new Set(metrics.tenants.values());
        for (const view of driver.scheduler.views.tenants())
          this.inc({ tenant: own.has(view.tenant) ? view.tenant : OTHER }, read(view) ?? 0);
      },
    });
  ofTenant('attained_share', 'Share of the engine time of about the last minute.', (view) => view.attainedShare);
  ofTenant('due_share', 'Share of engine time due among the tenants with calls, 0 without.', (view) => view.dueShare);
}

function registerEngineGauges(context: Parts): void {
  const { fleet, metrics, driver } = context;
  const registers = [metrics.registry];
  // Engines come and go; one that is gone must not leave its last value behind.
  const ofEngine = (name: string, help: string, read: (engine: Engine) => number | undefined) =>
    new Gauge({
      name: `maitred_engine_${name}`,
      help,
      labelNames: ['engine'],
      registers,
      collect() {
        this.reset();
        for (const engine of fleet.list()) {
          const value = read(engine);
          if (value !== undefined) this.set({ engine: engine.id }, value);
        }
      },
    });
  const ofView = (name: string, help: string, read: (view: EngineView) => number | undefined) =>
    ofEngine(name, help, ({ id }) => {
      const view = driver.scheduler.views.engine(id);
      return view && read(view);
    });
  ofView('in_flight_calls', 'Calls that the engine runs.', (view) => view.inFlight);
  ofView('window_calls', 'Most calls in flight now.', (view) => view.window);
  ofView(
    'working_set_tokens',
    'Contexts of the programs that the engine keeps running.',
    (view) => view.workingSetTokens,
  );
  ofView('capacity_tokens', 'The engine’s KV cache.', (view) => view.capacityTokens);
  ofView('gate_tokens', 'Most tokens of the working set, the gate.', ({ capacityTokens }) => {
    const { gate } = context.config.admission;
    return gate === 0 || capacityTokens === undefined ? undefined : gate * capacityTokens;
  });
  ofEngine('up', '1 while the engine takes calls.', (engine) => (isServing(engine) ? 1 : 0));
  new Gauge({
    name: 'maitred_engine_state',
    help: '1 for the engine’s state, 0 for the others.',
    labelNames: ['engine', 'state'],
    registers,
    collect() {
      this.reset();
      for (const engine of fleet.list())
        for (const state of ENGINE_STATES) this.set({ engine: engine.id, state }, engine.state === state ? 1 : 0);
    },
  });
  new Counter({
    name: 'maitred_engine_ejections_total',
    help: 'Times that the engine was taken out of service because it failed.',
    labelNames: ['engine'],
    registers,
    collect() {
      this.reset();
      for (const engine of fleet.list()) this.inc({ engine: engine.id }, engine.ejections);
    },
  });
}

function registerSourceGauges({ discovery, membership, metrics }: Parts): void {
  const each = (name: string, help: string, read: (state: SourceState) => number) => ({
    name: `maitred_discovery_${name}`,
    help,
    labelNames: ['source'] as const,
    registers: [metrics.registry],
    collect(this: Gauge<'source'> | Counter<'source'>) {
      this.reset();
      for (const state of discovery.states) this.inc({ source: state.label }, read(state));
    },
  });
  new Gauge(
    each('engines', 'Engines of the source, with those that it misses for less than its grace.', ({ label }) =>
      membership.sizeOf(label),
    ),
  );
  new Counter(each('failures_total', 'Looks of the source that failed or found no engine.', (state) => state.failures));
  new Gauge(
    each('found_timestamp_seconds', 'When the source last found engines.', ({ foundAtMs }) => foundAtMs / 1000),
  );
}
