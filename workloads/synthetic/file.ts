import type { z } from 'zod';
import { type fileSchema, type Spec, specSchema, type SpecInput } from './spec.js';
import { BUILT_IN, PARTS } from './built-in.js';
import { compose } from './compose.js';
import type { Workload } from '../workload.js';

/** A fault of a file of workloads: the path of the key to change, and words to follow its name. */
interface Finding {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * Faults that the schema cannot tell: names that are taken or unknown, and mixtures that contain themselves.
 * @param values of a file as read, which may have other faults, so that all of them are told at once
 * @param suggest returns the likely intended name, as the end of a sentence; '' for none
 */
export function nameFindings(values: unknown, suggest: (name: string, known: readonly string[]) => string): Finding[] {
  const given = mappingOf(values);
  const own = Object.entries(mappingOf(given['workloads']));
  if (own.length === 0) return [];
  const parts: Parts = new Map([...specs, ...own].map(([name, spec]) => [name, partsOf(spec)]));
  const names = own.map(([name]) => name);
  const findings: Finding[] = names.flatMap((name) => [
    // Parts of built-in workloads are named nowhere, so a file may have others of these names.
    ...(Object.hasOwn(BUILT_IN, name)
      ? [{ path: ['workloads', name], message: 'is the name of a built-in workload' }]
      : []),
    ...mixtureFindings(name, parts, (part) => suggest(part, [...names, ...WORKLOAD_NAMES])),
  ]);
  const { workload } = given;
  if (workload === undefined && names.length > 1)
    findings.push({ path: ['workload'], message: `must be one of ${names.join(', ')}` });
  else if (typeof workload === 'string' && !names.includes(workload))
    findings.push({ path: ['workload'], message: `is no workload of this file; these are ${names.join(', ')}` });
  return findings;
}

/** For each workload, the names of the workloads that it mixes; none if it is not a mixture. */
type Parts = ReadonlyMap<string, readonly string[]>;

function partsOf(spec: unknown): readonly string[] {
  const { kind, of } = mappingOf(spec);
  return kind === 'mixture' ? Object.keys(mappingOf(of)) : [];
}

const mappingOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** Unknown parts of a mixture, and the path by which it contains itself. */
function mixtureFindings(name: string, parts: Parts, hint: (part: string) => string): Finding[] {
  return (parts.get(name) ?? []).flatMap((part): Finding[] => {
    const path = ['workloads', name, 'of', part];
    if (!parts.has(part)) return [{ path, message: `is no workload of this file, nor a built-in one${hint(part)}` }];
    const circle = wayTo(name, part, parts, new Set());
    return circle === undefined ? [] : [{ path, message: `comes back to itself: ${[name, ...circle].join(' > ')}` }];
  });
}

/** A path of mixtures from one to another, each containing the next. @param seen mixtures already visited */
function wayTo(target: string, from: string, parts: Parts, seen: Set<string>): readonly string[] | undefined {
  if (from === target) return [from];
  if (seen.has(from)) return undefined;
  seen.add(from);
  for (const part of parts.get(from) ?? []) {
    const rest = wayTo(target, part, parts, seen);
    if (rest !== undefined) return [from, ...rest];
  }
  return undefined;
}

export type WorkloadName = keyof typeof BUILT_IN;

export const WORKLOAD_NAMES = Object.keys(BUILT_IN) as WorkloadName[];

const specs: ReadonlyMap<string, Spec> = new Map(
  Object.entries<SpecInput>({ ...PARTS, ...BUILT_IN }).map(([name, spec]) => [name, specSchema.parse(spec)]),
);

export const WORKLOADS = Object.fromEntries(WORKLOAD_NAMES.map((name) => [name, compose(name, specs)])) as Readonly<
  Record<WorkloadName, Workload>
>;

/**
 * The workload that a file is for: the one that it names, or its only one. A mixture may contain the built-in ones.
 * @param file without faults, names included
 */
export const workloadOf = ({ workload, workloads }: z.output<typeof fileSchema>): Workload =>
  compose(workload ?? Object.keys(workloads)[0] ?? '', new Map([...specs, ...Object.entries(workloads)]));
