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

/** Keys that left. Their one value that is now the rule is dropped; of any other, the sentence says why it is refused. */
const REMOVED_KEYS: Readonly<Record<string, { readonly rule: string; readonly why: string }>> = {
  'policy.service': { rule: 'time', why: 'was removed: service is always engine time, so delete the key' },
};

const peer = (flag: string, instead: string) => (name: string) =>
  `${name} has left the gateway for the simulator (maitred sim --${flag} ${name}); use ${instead}`;

/** Values that left, by key. */
const REMOVED_VALUES: Readonly<Record<string, Readonly<Record<string, (name: string) => string>>>> = {
  'policy.name': { 'las-decayed': peer('policy', 'plas') },
  'balancer.name': {
    'round-robin': peer('balancer', 'least-loaded'),
    'prefix-aware': peer('balancer', 'program-affinity'),
  },
};

/** The present name for a policy's old or present one. `warn` gets a sentence about an old one. */
export function presentPolicy(name: string, warn: (message: string) => void): string {
  const present = presentName(RENAMED['policy.name'], name);
  if (present !== undefined) warn(messageOf(name, present));
  return present ?? name;
}

type OriginOf = (path: Path) => string | undefined;
const nowhere: OriginOf = () => undefined;

/** Replaces old values in `values` by their present names, drops keys that say what is now the rule, and reports each. */
export function replaceRenamed(values: Record<string, unknown>, originOf = nowhere): readonly ConfigProblem[] {
  const renamed = Object.entries(RENAMED).flatMap(([path, names]) => {
    const { fields, key, value, place } = find(values, path);
    const present = typeof value === 'string' ? presentName(names, value) : undefined;
    if (fields === undefined || present === undefined) return [];
    fields[key] = present;
    return [{ path, message: messageOf(String(value), present), origin: originOf(place) }];
  });
  const dropped = Object.entries(REMOVED_KEYS).flatMap(([path, { rule, why }]) => {
    const { fields, key, value, place } = find(values, path);
    if (value !== rule) return [];
    delete fields?.[key];
    return [{ path, message: why, origin: originOf(place) }];
  });
  return [...renamed, ...dropped];
}

/** Problems of keys and values that left. `values` has been through `replaceRenamed`. */
export function problemsOfRemoved(values: Record<string, unknown>, originOf = nowhere): readonly ConfigProblem[] {
  const keys = Object.entries(REMOVED_KEYS).flatMap(([path, { why }]) => {
    const { value, place } = find(values, path);
    return value === undefined ? [] : [{ path, message: why, origin: originOf(place) }];
  });
  const names = Object.entries(REMOVED_VALUES).flatMap(([path, sentences]) => {
    const { value, place } = find(values, path);
    const left = typeof value === 'string' && Object.hasOwn(sentences, value) ? sentences[value]?.(value) : undefined;
    return left === undefined ? [] : [{ path, message: left, origin: originOf(place) }];
  });
  return [...keys, ...names];
}

/** Why the variable of a key that left is refused; undefined: it never was one. */
export const removedVariable = (variable: string): string | undefined =>
  Object.entries(REMOVED_KEYS).find(([path]) => variable === `MAITRED_${path.replace('.', '_').toUpperCase()}`)?.[1]
    .why;

function find(values: Record<string, unknown>, path: string) {
  const place = path.split('.');
  const [section = '', key = ''] = place;
  const holder = values[section];
  const fields = typeof holder === 'object' && holder !== null ? (holder as Record<string, unknown>) : undefined;
  return { fields, key, value: fields?.[key], place };
}

const presentName = (names: Readonly<Record<string, string>>, old: string): string | undefined =>
  Object.hasOwn(names, old) ? names[old] : undefined;

const messageOf = (old: string, present: string) => `${old} is now ${present}; the next version refuses the old name`;
