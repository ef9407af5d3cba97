import type { SimBalancerName, SimPolicyName } from '../../sim/index.js';

/** Circumstances whose values `auto` looks for. */
export const SEARCHED = ['rate', 'concurrency', 'engines'] as const;
export type Searched = (typeof SEARCHED)[number];

/** The world that the settings of a gateway meet. Settings are compared in the same circumstances. */
export const CIRCUMSTANCES = [...SEARCHED, 'preset', 'conditions'] as const;

/** Settings of the scheduler, which has none under pass-through. */
export const SCHEDULED = ['window', 'gate', 'hostGate', 'foresight', 'tenants', 'retention'] as const;

/** Settings that may have several values, in the order of a table's columns. */
export const AXES = [...CIRCUMSTANCES, 'policy', 'balancer', ...SCHEDULED] as const;

export type Axis = (typeof AXES)[number];
export type Value = string | number;
export interface Values {
  readonly rate?: number;
  readonly concurrency?: number;
  readonly engines?: number;
  readonly preset?: string;
  readonly conditions?: string;
  readonly policy?: SimPolicyName;
  readonly balancer?: SimBalancerName;
  readonly window?: Value;
  readonly gate?: Value;
  readonly hostGate?: Value;
  readonly foresight?: string;
  readonly tenants?: string;
  readonly retention?: string;
}
export type Lists = { readonly [A in Axis]?: readonly NonNullable<Values[A]>[] };

export const flagOf = (axis: Axis): string => `--${axis.replace('G', '-g')}`;

/** Whether it is for the operator of a gateway to set. */
export const isChoice = (axis: Axis): boolean => !CIRCUMSTANCES.some((each) => each === axis);

/**
 * Every combination of the values that can differ: `pass-through` has none of the scheduler's, unless it is the only
 * policy. The last axis changes first, so that those of the same circumstances follow each other.
 */
export function combinationsOf<L extends Lists>(lists: L): ValuesOf<L>[] {
  const isVain = ({ policy }: Values, axis: Axis) =>
    policy === 'pass-through' && lists.policy?.length !== 1 && SCHEDULED.some((each) => each === axis);
  const valuesAt = (axis: Axis, values: Values): Values[] => {
    const { [axis]: list = [] } = lists;
    return list.length === 0 || (list.length > 1 && isVain(values, axis))
      ? [values]
      : list.map((value) => ({ ...values, [axis]: value }));
  };
  return AXES.reduce<Values[]>((some, axis) => some.flatMap((values) => valuesAt(axis, values)), [{}]) as ValuesOf<L>[];
}

type ValuesOf<L extends Lists> = Values & {
  readonly [A in Extract<keyof L, 'policy' | 'balancer'>]: NonNullable<L[A]>[number];
};

/** Words for a value in a sentence; absent: its axis and itself. */
const TEXTS: Readonly<Partial<Record<Axis, (value: Value) => string>>> = {
  rate: (value) => `at ${value} a second`,
  concurrency: (value) => `with ${value} at a time`,
  engines: (value) => `on ${value} ${value === 1 ? 'engine' : 'engines'}`,
  preset: (value) => `on ${value}`,
  conditions: (value) => (value === 'none' ? 'without failures' : `under ${value}`),
  policy: String,
  balancer: String,
  hostGate: (value) => `host gate ${value}`,
};

/** Values at the beginning of a sentence. */
export function placeOf(values: Values, axes?: readonly Axis[]): string {
  const text = valuesText(values, axes);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Values in a sentence, such as `plas, window 64`. */
export const valuesText = (values: Values, axes: readonly Axis[] = AXES): string =>
  axes
    .flatMap((axis) => (values[axis] === undefined ? [] : (TEXTS[axis]?.(values[axis]) ?? `${axis} ${values[axis]}`)))
    .join(', ');
