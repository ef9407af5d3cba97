import type { EngineDemand, EngineShared } from '../src/index.js';

declare const brand: unique symbol;
/** A gateway's own name, new at each start. */
export type GatewayId = string & { readonly [brand]: 'GatewayId' };
export const gatewayId = (text: string): GatewayId => text as GatewayId;

export interface EngineClaim extends EngineDemand {
  /** Slots that it keeps of those that it was given; its calls in flight always count. */
  readonly keeps: number;
}

/** A gateway's part of one engine, and the sums of the others. */
export type EnginePart = Omit<EngineShared, 'type'>;
