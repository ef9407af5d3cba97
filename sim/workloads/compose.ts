import type { AgentCall } from '../traces/program.js';
import { addAgent, pick } from './agent-programs.js';
import type { Dice } from './dice.js';
import { mapReduceCalls } from './map-reduce-programs.js';
import type { Spec } from './spec.js';
import { treeCalls } from './tree-programs.js';
import type { Workload } from './workload.js';

type Part = Exclude<Spec, { readonly kind: 'mixture' }>;
interface Share {
  readonly name: string;
  readonly part: Part;
  readonly weight: number;
}

/**
 * A workload of those that are described. A program of a mixture carries the name of its part, and where that is a
 * mixture in turn, of the part of that.
 * @param specs all that it needs, without a circle: `checkMixtures` has seen to it
 */
export function compose(name: string, specs: ReadonlyMap<string, Spec>): Workload {
  const spec = specs.get(name);
  if (spec === undefined) throw new RangeError(`there is no workload ${name}`);
  if (spec.kind !== 'mixture') return { name, draw: (dice, id) => ({ id, calls: callsOf(spec, dice) }) };
  const shares = sharesOf(name, 1, specs);
  return {
    name,
    draw(dice, id) {
      const share = pick(shares, dice);
      if (share === undefined) throw new RangeError(`the mixture ${name} is empty`);
      return { id, workload: share.name, calls: callsOf(share.part, dice) };
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

/** The parts of a workload that are no mixtures, with their shares of its weight. */
function sharesOf(name: string, weight: number, specs: ReadonlyMap<string, Spec>): Share[] {
  const spec = specs.get(name);
  if (spec === undefined) throw new RangeError(`there is no workload ${name}`);
  if (spec.kind !== 'mixture') return [{ name, part: spec, weight }];
  const sum = Object.values(spec.of).reduce((all, each) => all + each, 0);
  return Object.entries(spec.of).flatMap(([part, each]) => sharesOf(part, (weight * each) / sum, specs));
}
