import type { Participant } from '../../cluster/index.js';
import type { Context } from '../context.js';
import type { Scraped } from './scraped.js';

/** The parts of the gateway that this file uses. */
type Parts = Pick<Context, 'config' | 'cluster'>;

/** Metrics of state shared by gateways; no samples if sharing is off. */
export function registerCluster(scraped: Scraped, context: Parts): void {
  const each = (name: string, help: string, read: (cluster: Participant) => number) =>
    scraped(`cluster_${name}`, help, ['pool'], () => {
      const { cluster, config } = context;
      return cluster === undefined ? [] : [[{ pool: config.cluster.pool }, read(cluster)]];
    });
  each('store_up', '1 while the gateway shares state with others, 0 while it continues alone.', ({ state }) => Number(state.up)); // prettier-ignore
  each('gateways', 'Live gateways of the pool, this one included, as last heard.', ({ state }) => state.live);
  each('store_failures_total', 'Operations of the store that failed or were late.', ({ state }) => state.failures);
  scraped('cluster_takes_total', 'Programs that the store was asked for before a call, by result.', ['result'], () =>
    Object.entries(context.cluster?.takes ?? {}).map(([result, programs]) => [{ result }, programs]),
  );
}
