/**
 * Agent programs as workloads: synthetic ones from distributions, and readers of recorded ones. Nothing here runs them.
 *
 * Reading guide:
 * - `program.ts`: a program as a graph of calls with lengths and gaps. `workload.ts`: an endless supply of them.
 * - `synthetic/built-in.ts`: the built-in workloads as data; `synthetic/compose.ts` draws programs from such a
 *   description.
 * - `traces/open.ts`: the recorded formats, and a reader of any of them.
 */
export { Dice } from './dice.js';
export { type AgentCall, type AgentMessage, type AgentProgram, type Prefix, callAt, inChain } from './program.js';
export { arrivalTimes, recordedPrograms, withShortGaps, type Arrivals, programs } from './workload.js';
export { nameFindings, WORKLOADS, WORKLOAD_NAMES, type WorkloadName, workloadOf } from './synthetic/file.js';
export { fileSchema as workloadFileSchema } from './synthetic/spec.js';
export type { Workload } from './workload.js';
export { TraceError } from './traces/pieces.js';
export { TraceRecord, readRecords } from './traces/records.js';
export { FORMAT_NAMES, type FormatName, openTrace } from './traces/open.js';
export { readLogLine } from './traces/log-line.js';
export { LoggedPrograms } from './traces/event-log.js';
export { programLine } from './traces/maitred.js';
