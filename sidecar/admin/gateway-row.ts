import { randomBytes } from 'node:crypto';
import type { Parts } from '../context.js';
import type { GatewayState } from './answers.js';
import type { State } from './peers.js';
import { seconds } from './figures.js';
import { engineRows } from './state-rows.js';
import { statusOf } from './status.js';

/** Changes with every start, so that a page knows when the history that it shows is of another process. */
export const INSTANCE = randomBytes(6).toString('hex');

export function gatewayRow(context: Parts, state: State, { engines } = engineRows(context)): GatewayState {
  const { driver, draining, demo, shadow } = context;
  const { queue, batches, ended } = state;
  const cluster = clusterRow(context, state);
  return {
    api: 2,
    instance: INSTANCE,
    policy: driver.views.policyName,
    draining,
    status: statusOf(context, { engines, queue, batches, cluster }),
    demo: demo === undefined ? null : demo.progress === undefined ? 'idle' : 'running',
    demo_programs: demo?.progress ?? null,
    estimates: shadow !== undefined,
    cluster,
    batches,
    ended_batches: ended,
  };
}

function clusterRow({ cluster, config, peers }: Parts, { strange }: State): GatewayState['cluster'] {
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
