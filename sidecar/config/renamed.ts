import type { ConfigProblem, Path } from './problems.js';

/** Old values and their present names. Each is removed one version after its entry here. */
const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // It ordered calls like `fcfs-window`, except for demoting running calls, which no engine supports.
  'policy.name': { 'mlfq-call': 'fcfs-window' },
};

/** Replaces old values in `values` by their present names, and reports each. */
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
