/**
 * Agent programs as workloads: synthetic ones from distributions, and readers of recorded ones. Nothing here runs them.
 *
 * Reading guide:
 * - `program.ts`: a program as a graph of calls with lengths and gaps. `workload.ts`: an endless supply of them.
 * - `synthetic/built-in.ts`: the built-in workloads as data; `synthetic/compose.ts` draws programs from such a
 *   description.
 * - `traces/formats.ts`: the recorded formats; `traces/open.ts` reads any of them.
 */
export { Dice } from './dice.js';
export { UNKNOWN_KEY, issueText } from './issue-text.js';
export { type AgentCall, type AgentMessage, type AgentProgram, type Prefix, inChain } from './program.js';
export { arrivalTimes } from './synthetic/arrivals.js';
export { WorkloadError } from './synthetic/problems.js';
export { recordedPrograms, withShortGaps } from './synthetic/recorded.js';
export { WORKLOADS, WORKLOAD_NAMES, type WorkloadName, openWorkload } from './synthetic/workloads.js';
export { TraceError } from './traces/error.js';
export { FORMAT_NAMES, type FormatName } from './traces/formats.js';
export { readLogLine } from './traces/log-line.js';
export { LoggedPrograms } from './traces/logged-programs.js';
export { programLine } from './traces/maitred.js';
export { type Trace, openTrace } from './traces/open.js';
export { TraceRecord, readRecords } from './traces/records.js';
export { type Arrivals, programs } from './workload.js';
