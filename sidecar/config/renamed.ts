import type { ConfigProblem, Path } from './problems.js';

/** Old values and their present names, by key. Each is removed one version after its entry here. */
export const RENAMED = {
  'policy.name': {
    // It ordered calls like `fcfs-window`, except for demoting running calls, which no engine supports.
    'mlfq-call': 'fcfs-window',
    // The old name promised an order, and the policy leaves the order to the engines.
    fcfs: 'pass-through',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The present name for a policy's old or present one. `warn` gets a sentence about an old one. */
export function presentPolicy(name: string, warn: (message: string) => void): string {
  const present = presentName(RENAMED['policy.name'], name);
  if (present !== undefined) warn(messageOf(name, present));
  return present ?? name;
}

/** Replaces old values in `values` by their present names, and reports each. */
export function replaceRenamed(
  values: Record<string, unknown>,
  originOf: (path: Path) => string | undefined = () => undefined,
): readonly ConfigProblem[] {
  return Object.entries(RENAMED).flatMap(([path, names]) => {
    const [section = '', key = ''] = path.split('.');
    const holder = values[section];
    if (typeof holder !== 'object' || holder === null) return [];
    const fields = holder as Record<string, unknown>;
    const old = fields[key];
    const present = typeof old === 'string' ? presentName(names, old) : undefined;
    if (present === undefined) return [];
    fields[key] = present;
    return [{ path, message: messageOf(String(old), present), origin: originOf([section, key]) }];
  });
}

const presentName = (names: Readonly<Record<string, string>>, old: string): string | undefined =>
  Object.hasOwn(names, old) ? names[old] : undefined;

const messageOf = (old: string, present: string) => `${old} is now ${present}; the next version refuses the old name`;
