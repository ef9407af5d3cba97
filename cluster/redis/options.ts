import type { GatewayId } from '../messages.js';
import type { Connection } from './client.js';

export interface RedisOptions {
  readonly connection: Connection;
  /** Gateways of one pool share their engines: those of one fleet, with the same settings. */
  readonly pool: string;
  readonly gateway: GatewayId;
  /** Expected number of gateways until the store reports it. */
  readonly gateways: number;
  /** Time that an operation may take; later answers count as failures. */
  readonly limitMs: number;
  /** Time between two signs of life, and the time after the last at which a gateway counts as gone. */
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  /** Time that a new ledger keeps the shares of gateways that have not claimed yet. */
  readonly settleMs: number;
  /** Programs that the store keeps, and for how long after their last call. */
  readonly programsMax: number;
  readonly programsMs: number;
  /** Keys of conversations and responses that the store keeps for each tenant, and for how long after their last use. */
  readonly keysMax: number;
  readonly keysMs: number;
  /** Answers another gateway's question; '': not. */
  readonly answer: (question: string) => Promise<string>;
}

export const REDIS_TIMES = {
  settleMs: 3000,
  programsMs: 3_600_000,
  keysMs: 3_600_000,
} satisfies Partial<RedisOptions>;
