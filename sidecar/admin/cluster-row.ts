import type { Participant } from '../../cluster/index.js';
import type { GatewayState } from './answers.js';
import { seconds } from './wait-rows.js';

export function clusterRow({ standing, state }: Participant, pool: string): NonNullable<GatewayState['cluster']> {
  const { sinceMs, live, gateways, failures, error } = state;
  return {
    pool,
    standing,
    standing_seconds: seconds(Math.max(0, performance.now() - sinceMs)),
    live,
    gateways: [...gateways],
    failures,
    last_failure: error ?? null,
  };
}
