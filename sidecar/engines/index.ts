/**
 * The engines behind the gateway. Start with `fleet.ts` (the contract), then `replica.ts` (the states of one engine),
 * then an adapter.
 */
export { createFleet } from './create-fleet.js';
export { configuredModels } from './inspect.js';
export { ENGINE_STATES, isServing } from './fleet.js';
export type { Engine, Fleet, Log, SetTimer } from './fleet.js';
