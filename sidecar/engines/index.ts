/** The engines behind the gateway. Start with `fleet.ts` (the contract), then `replica.ts` (one engine's life), then an adapter. */
export { createFleet } from './create-fleet.js';
export type { FleetConfig } from './replica.js';
export type { Engine, EngineState, Fleet, FleetPorts, Log, SetTimer } from './fleet.js';
export type { Abort, EngineAdapter, EngineKind, LoadReport, Timings } from './adapter.js';
