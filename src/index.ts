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
export * from './units.js';
export * from './events.js';
export { EVENT_LOG_VERSION, logLine, type LogChange, type LogLine, type LogStep } from './event-log.js';
export { LogFault, readLogLine } from './event-log-check.js';
export type { Balancer, Candidate, Placeable } from './balancer.js';
export type { SchedulerConfig } from './config.js';
export { POLICY_NAMES, type Policy, type PolicyName } from './policy.js';
export { Scheduler } from './scheduler.js';
export * as views from './views.js';
export type { EngineView, ProgramView, QueueView, ThreadView } from './views.js';
