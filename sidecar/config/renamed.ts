import type { ConfigProblem, Path } from './problems.js';

/** Values that earlier versions took, and their present names. Each goes one version after it came here. */
const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // It ordered single calls as `fcfs-window` does, but for demotion of running calls, which no engine offers.
  'policy.name': { 'mlfq-call': 'fcfs-window' },
};

/** Puts present names in place of old ones, in `values`, and tells of each. */
export function replaceRenamed(
  values: Record<string, unknown>,
  originOf: (path: Path) => string | undefined,
): readonly ConfigProblem[] {
  return Object.entries(RENAMED).flatMap(([path, names]) => {
    const [section = '', key = ''] = path.split('.');
    const holder = values[section];
    if (typeof holder !== 'object' || holder === null) return [];
    const fields = holder as Record<string, unknown>;
    const old = fields[key];
    const present = typeof old === 'string' && Object.hasOwn(names, old) ? names[old] : undefined;
    if (present === undefined) return [];
    fields[key] = present;
    const message = `${String(old)} is now ${present}; the next version refuses the old name`;
    return [{ path, message, origin: originOf([section, key]) }];
  });
}
