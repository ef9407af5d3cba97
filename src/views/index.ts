/** Read-only pictures of a scheduler: for people and metrics, and for the gateways that share its engines. */
export { Views, type EngineView, type ForecastView, type IdleProgram, type ProgramView, type QueueView, type ThreadView } from './views.js'; // prettier-ignore
export type { CallView, ObstacleView, WaitView, WaitingCall } from './wait-views.js';
export type { EngineDemand, ProgramRecord } from './shared-views.js';
