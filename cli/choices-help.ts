import type { Command } from 'commander';
import type { BalancerName } from '../loadbalancer/index.js';
import type { SimBalancerName, SimPolicyName } from '../sim/index.js';
import type { PolicyName } from '../src/index.js';

export const POLICY_SENTENCES: Readonly<Record<PolicyName, string>> = {
  plas: 'The program that is likely to need the least engine time still goes first, with window and gate (after Autellix).',
  'pass-through': 'No scheduling: every call goes to an engine at once.',
  'fcfs-window': 'First come, first served, with the same window and gate: what the gate gains without the order.',
};

export const BALANCER_SENTENCES: Readonly<Record<BalancerName, string>> = {
  'program-affinity':
    'Long calls stay on the engine that holds their program’s context, and short ones go where least runs (Autellix).',
  'least-loaded': 'Each call goes to the engine with the fewest tokens of work, whatever its program.',
  sticky: 'All calls of a program go to the engine of its first call.',
};

const SIM_SENTENCES: Readonly<Record<Exclude<SimPolicyName, PolicyName>, string>> = {
  'las-decayed': 'Least attained service that fades with time (llm-d): a program’s past work counts for less and less.',
  srpt: 'Knows the future: the program with the least work left goes first, and waiting promotes nothing. A bound.',
};

const SIM_BALANCER_SENTENCES: Readonly<Record<Exclude<SimBalancerName, BalancerName>, string>> = {
  'round-robin': 'Each call goes to the next engine in turn.',
  'prefix-aware':
    'Each call goes to the engine that has most of its prompt in cache, unless that engine is overloaded.',
};

export const SIM_POLICY_SENTENCES: Readonly<Record<SimPolicyName, string>> = { ...POLICY_SENTENCES, ...SIM_SENTENCES };

/** Adds a sentence about each policy and balancer to the end of the command's help. */
export function explainChoices(command: Command, { ofSimulator = false } = {}): Command {
  const policies = ofSimulator ? SIM_POLICY_SENTENCES : POLICY_SENTENCES;
  const balancers = ofSimulator ? { ...BALANCER_SENTENCES, ...SIM_BALANCER_SENTENCES } : BALANCER_SENTENCES;
  return command.addHelpText('after', () =>
    [['Policies:', policies] as const, ['Balancers:', balancers] as const]
      .map(([title, sentences]) => `\n${title}\n${rows(command, sentences)}`)
      .join('\n'),
  );
}

function rows(command: Command, sentences: Readonly<Record<string, string>>): string {
  const help = command.createHelp();
  const width = Math.max(...Object.keys(sentences).map((name) => name.length));
  return Object.entries(sentences)
    .map(([name, sentence]) => help.formatItem(name, width, sentence, help))
    .join('\n');
}
