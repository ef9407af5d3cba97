import { Dice } from '../../workloads/index.js';
import type { Values } from '../sim/axes.js';
import type { Variant } from '../sim/plan.js';

/** A setting of a gateway, in its circumstances. */
export type Setting = Values & Pick<Variant, 'policy' | 'balancer'>;

/** Values that a search tries. Those of the present setting are added. */
const RANGES = {
  policy: ['plas', 'fcfs-window', 'pass-through'],
  balancer: ['program-affinity', 'least-loaded'],
  window: ['auto', 16, 32, 64, 128, 256],
  gate: [0, 0.5, 0.6, 0.75, 0.9, 1],
} as const;
type Tuned = keyof typeof RANGES;

/** Draws of the same setting again before a search gives up looking for another. */
const DRAWS_PER_SETTING = 50;

/**
 * Settings to try, no two alike: the present one, then each that differs from it in one value, then random ones.
 * @param engines balancers differ only if there are several
 */
export function candidatesOf(present: Setting, engines: number, count: number, seed: number): Setting[] {
  const axes = (Object.keys(RANGES) as Tuned[]).filter((axis) => engines > 1 || axis !== 'balancer');
  const found = new Map<string, Setting>([[JSON.stringify(present), present]]);
  const add = (values: Setting) => {
    // Without admission, window and gate change nothing.
    const own = values.policy === 'pass-through' ? { ...values, window: present.window, gate: present.gate } : values;
    const key = JSON.stringify(own);
    if (!found.has(key)) found.set(key, own as Setting);
  };
  for (const axis of axes) for (const value of RANGES[axis]) add({ ...present, [axis]: value });
  const dice = new Dice(seed);
  for (let draws = 0; found.size < count && draws < count * DRAWS_PER_SETTING; draws += 1)
    add({
      ...present,
      ...Object.fromEntries(axes.map((axis) => [axis, RANGES[axis][dice.int(0, RANGES[axis].length - 1)]])),
    });
  return [...found.values()].slice(0, count);
}
