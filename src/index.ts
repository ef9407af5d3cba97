/**
 * The core of maitred: decides which call runs next, and nothing else. Pure: facts and time come in, decisions go out.
 *
 * Reading guide, four files to start with:
 *   protocol/events.ts            what a driver tells the scheduler, and what it is told to do
 *   scheduler.ts                  `step(event, now) -> commands`, the life of a call
 *   programs/process-table.ts     what is known of a program
 *   placement/placement.ts        which waiting call some engine has room for
 * then, as needed: programs/ (accounting, escalation), policies/ (who is next), invariant.ts (what must hold), queues/ (wait queues and their trees), engines/
 * (engine table, concurrency limit), kv/ (cache and working set), views.ts, protocol/event-log.ts (steps as a file).
 */
export * from './protocol/units.js';
export * from './protocol/events.js';
export { EVENT_LOG_VERSION, logLine, type LogChange, type LogLine, type LogStep } from './protocol/event-log.js';
export { LogFault, readLogLine } from './protocol/event-log-schema.js';
export type { Balancer, Candidate, Placeable } from './placement/balancer.js';
export { queueMsLeast, type SchedulerConfig } from './config.js';
export { POLICY_NAMES, type Policy, type PolicyName } from './policies/policy.js';
export { ADMISSION_NAMES, type AdmissionName, type AdmissionPolicy } from './policies/admission.js';
export { RETENTION_NAMES, type RetentionName, type RetentionPolicy } from './policies/retention.js';
export { Scheduler } from './scheduler.js';
export type { EngineView, ProgramView, QueueView, ThreadView, Views } from './views.js';
