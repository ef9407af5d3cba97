import { randomBytes } from 'node:crypto';
import type { Context } from '../context.js';
import type { Batch, GatewayState } from './answers.js';
import { batchRows } from './batches.js';
import { unixSeconds, type Shown } from './rows.js';
import { seconds } from './wait-rows.js';

/** Changes with every start, so that a page knows when the history that it shows is of another process. */
export const INSTANCE = randomBytes(6).toString('hex');

/** @param batches of other gateways */
export function gatewayRow(context: Shown, batches: readonly Batch[]): GatewayState {
  const { driver, draining, demo, shadow } = context;
  return {
    api: 1,
    instance: INSTANCE,
    started_at: unixSeconds(0),
    policy: driver.views.policyName,
    draining,
    demo: demo === undefined ? null : demo.progress === undefined ? 'idle' : 'running',
    demo_programs: demo?.progress ?? null,
    estimates: shadow !== undefined,
    cluster: clusterRow(context),
    batches: [...batchRows(context), ...batches],
  };
}

function clusterRow({
  cluster,
  config,
  peers,
}: Pick<Context, 'cluster' | 'config' | 'peers'>): GatewayState['cluster'] {
  if (cluster === undefined) return null;
  const { sinceMs, live, gateways, failures, error } = cluster.state;
  return {
    pool: config.cluster.pool,
    standing: cluster.standing,
    standing_seconds: seconds(Math.max(0, performance.now() - sinceMs)),
    live,
    gateways: [...gateways],
    silent: [...(peers?.silent ?? [])],
    failures,
    last_failure: error ?? null,
  };
}
