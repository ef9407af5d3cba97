import type { GatewayId } from '../../cluster/index.js';

/** The other gateways of a cluster. */
export interface Peers {
  readonly gateway: GatewayId;
  /** Those that did not answer the last question in time. */
  readonly silent: readonly GatewayId[];
  /** Their answers as they come within a second; '': none. */
  ask(question: string): Promise<ReadonlyMap<GatewayId, string>>;
}
