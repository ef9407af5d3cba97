/** Read-only pictures of a scheduler: for people and metrics, and for the gateways that share its engines. */
export { Views, type EngineView, type QueueView } from './views.js';
export type { ForecastView, HolderView, IdleProgram, ProgramView } from './program-views.js';
export type { CallView, ObstacleView, ThreadView, WaitView, WaitingCall } from './wait-views.js';
export type { EngineDemand, ProgramRecord } from './shared-views.js';
