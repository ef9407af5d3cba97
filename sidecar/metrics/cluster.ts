import { Counter, Gauge } from 'prom-client';
import type { Participant } from '../../cluster/index.js';
import type { Context } from '../context.js';

/** The parts of the gateway that this file uses. */
type Parts = Pick<Context, 'config' | 'metrics' | 'cluster'>;

/** Metrics of state shared by gateways; no samples if sharing is off. */
export function registerCluster(context: Parts): void {
  const registers = [context.metrics.registry];
  const each = (name: string, help: string, read: (cluster: Participant) => number) => ({
    name: `maitred_cluster_${name}`,
    help,
    registers,
    labelNames: ['pool'] as const,
    collect(this: Gauge<'pool'> | Counter<'pool'>) {
      this.reset();
      const { cluster, config } = context;
      if (cluster !== undefined) this.inc({ pool: config.cluster.pool }, read(cluster));
    },
  });
  new Gauge(each('store_up', '1 while the gateway shares state with others, 0 while it continues alone.', ({ state }) => (state.up ? 1 : 0))); // prettier-ignore
  new Gauge(
    each('gateways', 'Live gateways of the pool, this one included, as last heard.', ({ state }) => state.live),
  );
  new Counter(each('store_failures_total', 'Operations of the store that failed or were late.', ({ state }) => state.failures)); // prettier-ignore
  new Counter({
    name: 'maitred_cluster_takes_total',
    help: 'Programs that the store was asked for before a call, by result.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, programs] of Object.entries(context.cluster?.takes ?? {})) this.inc({ result }, programs);
    },
  });
}
