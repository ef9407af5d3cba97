/** The engines. Start with `engine.ts` (the contract), then `replica.ts` (the states of one), then an adapter. */
export { configuredModels, keyFault, NotAnEngine } from './inspect.js';
export { FAILURES_OVER_MS } from './evidence.js';
export { TOLD_STATES, isServing, type Log, type SetTimer } from './engine.js';
export { Fleet } from './fleet.js';
export type { Engine } from './replica.js';
