import { existsSync } from 'node:fs';
import { BUILT_IN, PARTS } from './built-in.js';
import { compose } from './compose.js';
import { readWorkloadFile } from './file.js';
import { WorkloadError } from './problems.js';
import { specSchema, type Spec, type SpecInput } from './spec.js';
import type { Workload } from '../workload.js';

export type WorkloadName = keyof typeof BUILT_IN;

export const WORKLOAD_NAMES = Object.keys(BUILT_IN) as WorkloadName[];

const specs: ReadonlyMap<string, Spec> = new Map(
  Object.entries<SpecInput>({ ...PARTS, ...BUILT_IN }).map(([name, spec]) => [name, specSchema.parse(spec)]),
);

/** The built-in workloads. */
export const WORKLOADS = Object.fromEntries(WORKLOAD_NAMES.map((name) => [name, compose(name, specs)])) as Readonly<
  Record<WorkloadName, Workload>
>;

/**
 * The built-in workload of that name, or the one described by a YAML file.
 * @throws WorkloadError with all problems of the file
 */
export function openWorkload(nameOrFile: string): Workload {
  if (nameOrFile in WORKLOADS) return WORKLOADS[nameOrFile as WorkloadName];
  if (!/[./\\]/.test(nameOrFile) && !existsSync(nameOrFile)) {
    const message = `is no file and no built-in workload; these are ${WORKLOAD_NAMES.join(', ')}`;
    throw new WorkloadError([{ path: '', message, origin: nameOrFile }]);
  }
  const file = readWorkloadFile(nameOrFile, specs);
  return compose(file.name, file.specs);
}
