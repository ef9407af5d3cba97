import { Counter, Gauge } from 'prom-client';
import { type EngineView } from '../../src/index.js';
import { isServing, type Context } from '../context.js';
import type { SourceState } from '../discovery/index.js';

/** Metrics that are read from the scheduler and the fleet during a scrape, and cost nothing otherwise. */
export function registerGauges(context: Context): void {
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
  gauge('body_bytes', 'Request bodies of calls that are read, wait or run.', () => context.held.bytes);
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
  new Gauge({
    name: 'maitred_queue_calls',
    help: 'Calls that wait, by level.',
    labelNames: ['level'],
    registers,
    collect() {
      this.reset();
      driver.scheduler.views.queue().byLevel.forEach((waiting, level) => this.set({ level }, waiting));
    },
  });
  registerEngineGauges(context);
  registerSourceGauges(context);
}

function registerEngineGauges(context: Context): void {
  const gauge = (name: string, help: string, read: (view: EngineView) => number | undefined) =>
    new Gauge({
      name: `maitred_engine_${name}`,
      help,
      labelNames: ['engine'],
      registers: [context.metrics.registry],
      collect() {
        // Engines come and go; one that is gone must not leave its last value behind.
        this.reset();
        for (const engine of context.fleet.list()) {
          const view = context.driver.scheduler.views.engine(engine.id);
          const value = view && read(view);
          if (value !== undefined) this.set({ engine: engine.id }, value);
        }
      },
    });
  gauge('in_flight_calls', 'Calls that the engine runs.', (view) => view.inFlight);
  gauge('window_calls', 'Most calls in flight now.', (view) => view.window);
  gauge(
    'working_set_tokens',
    'Contexts of the programs that the engine keeps running.',
    (view) => view.workingSetTokens,
  );
  gauge('capacity_tokens', 'The engine’s KV cache.', (view) => view.capacityTokens);
  new Gauge({
    name: 'maitred_engine_up',
    help: '1 while the engine takes calls.',
    labelNames: ['engine'],
    registers: [context.metrics.registry],
    collect() {
      this.reset();
      for (const engine of context.fleet.list()) this.set({ engine: engine.id }, isServing(engine) ? 1 : 0);
    },
  });
}

function registerSourceGauges({ discovery, membership, metrics }: Context): void {
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
