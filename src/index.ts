/**
 * The core of maitred: decides which call runs next, and nothing else. Pure: facts and time come in, decisions go out.
 *
 * Reading guide, three files to start with:
 *   events.ts      what a driver tells the scheduler, and what it is told to do
 *   scheduler.ts   `step(event, now) -> commands`, the life of a call
 *   floor.ts       which waiting call some engine has room for
 * then, as needed: program.ts (the process table), ledger.ts (attained service), policies/ (who is next), engine.ts,
 * residency.ts, growth.ts and window.ts (what "room" means), fit-tree.ts and timer-heap.ts (the two data structures), views.ts,
 * event-log.ts (steps as a file).
 */
export * from './protocol/units.js';
export * from './protocol/events.js';
export { EVENT_LOG_VERSION, logLine, type LogChange, type LogLine, type LogStep } from './protocol/event-log.js';
export { LogFault, readLogLine } from './protocol/event-log-schema.js';
export type { Balancer, Candidate, Placeable } from './placement/balancer.js';
export type { SchedulerConfig } from './config.js';
export { POLICY_NAMES, type Policy, type PolicyName } from './policies/policy.js';
export { Scheduler } from './scheduler.js';
export type { EngineView, ProgramView, QueueView, ThreadView, Views } from './views.js';
