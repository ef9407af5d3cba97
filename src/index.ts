/**
 * The core of maitred: decides which call runs next, and where. Pure: events and time come in, commands go out.
 *
 * README.md here is the guide: the rooms (protocol/, programs/, foresight/, policies/, queues/, engines/, kv/,
 * placement/, views/) and the life of a call. Start with protocol/events.ts, then scheduler.ts.
 */
export * from './protocol/units.js';
export * from './protocol/events.js';
export { BEHAVIOUR, BEHAVIOUR_CHANGES, FIRST_BEHAVIOUR, type BehaviourChange } from './protocol/behaviour.js';
export { EVENT_LOG_VERSION, logLine, type LogChange, type LogLine, type LogStep } from './protocol/event-log.js';
export type { Balancer, Candidate, Placeable } from './placement/balancer.js';
export * from './config.js';
export type { Policy } from './policies/policy.js';
export type { RetentionPolicy } from './policies/retention.js';
export { learntRetention } from './policies/retention-learnt.js';
export { Scheduler } from './scheduler.js';
export { WAIT_CAUSES, type WaitCause } from './placement/waits.js';
export type { TenantView } from './programs/accounts.js';
export { NO_STEPS } from './engines/step-time.js';
export type * from './views/index.js';
