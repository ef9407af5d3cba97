import type { AgentProgram } from '../../sim/index.js';
import { recordedPrograms } from '../../sim/workloads/recorded.js';
import { programs } from '../../sim/workloads/workload.js';
import { openWorkload } from '../../sim/workloads/workloads.js';
import type { Plan } from './plan.js';

/** The programs of a run, drawn by its seed; those of a recording in the order of their arrivals where it sets these. */
export function programsOf({ source, arrivals }: Plan, seed: number): Iterable<AgentProgram> {
  if (source.type === 'workload') return programs(openWorkload(source.workload), seed);
  if (arrivals.type === 'trace') return source.programs.toSorted((a, b) => (a.arrivalMs ?? 0) - (b.arrivalMs ?? 0));
  return recordedPrograms(source.programs, seed);
}
