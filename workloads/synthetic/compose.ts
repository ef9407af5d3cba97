import type { AgentCall } from '../program.js';
import { addAgent, pick } from './agent-programs.js';
import type { Dice } from '../dice.js';
import { mapReduceCalls } from './map-reduce-programs.js';
import type { Spec } from './spec.js';
import { treeCalls } from './tree-programs.js';
import type { Workload } from '../workload.js';

type Part = Exclude<Spec, { readonly kind: 'mixture' }>;
/** Shares of the whole, by the name of the part. */
type Shares = ReadonlyMap<string, number>;

/**
 * The named workload. A program of a mixture carries the name of its part; for nested mixtures, of the innermost part.
 * @param specs every workload that it needs, without cycles, as `readWorkloadFile` returns them
 * @throws RangeError when one is missing
 */
export function compose(name: string, specs: ReadonlyMap<string, Spec>): Workload {
  const spec = specs.get(name);
  if (spec === undefined) throw new RangeError(`there is no workload ${name}`);
  if (spec.kind !== 'mixture') return { name, draw: (dice, id) => ({ id, calls: callsOf(spec, dice) }) };
  const parts = [...sharesOf(name, specs, new Map())].map(([part, weight]) => ({
    weight,
    workload: compose(part, specs),
  }));
  return {
    name,
    draw(dice, id) {
      const part = pick(parts, dice);
      if (part === undefined) throw new RangeError(`the mixture ${name} is empty`);
      const { name: kind } = part.workload;
      const program = { ...part.workload.draw(dice, id), workload: kind };
      const tenants = spec.tenants?.[kind];
      return tenants === undefined ? program : { ...program, tenant: `${kind}-${dice.int(1, tenants)}` };
    },
  };
}

function callsOf(part: Part, dice: Dice): AgentCall[] {
  switch (part.kind) {
    case 'agent': {
      const calls: AgentCall[] = [];
      addAgent(calls, part, { thread: '', after: [] }, dice);
      return calls;
    }
    case 'tree':
      return treeCalls(part, dice);
    case 'map-reduce':
      return mapReduceCalls(part, dice);
  }
}

/** The parts of a workload that are not mixtures. @param known shares of mixtures already visited */
function sharesOf(name: string, specs: ReadonlyMap<string, Spec>, known: Map<string, Shares>): Shares {
  const spec = specs.get(name);
  if (spec?.kind !== 'mixture') return new Map([[name, 1]]);
  const before = known.get(name);
  if (before !== undefined) return before;
  const sum = Object.values(spec.of).reduce((all, each) => all + each, 0);
  const shares = new Map<string, number>();
  for (const [part, weight] of Object.entries(spec.of))
    for (const [leaf, share] of sharesOf(part, specs, known))
      shares.set(leaf, (shares.get(leaf) ?? 0) + (share * weight) / sum);
  known.set(name, shares);
  return shares;
}
