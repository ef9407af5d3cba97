import type { Command } from 'commander';
import type { BalancerName } from '../loadbalancer/index.js';
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

/** Adds a sentence about each policy and balancer to the end of the command's help. */
export function explainChoices(
  command: Command,
  policies: Readonly<Record<string, string>> = POLICY_SENTENCES,
  balancers: Readonly<Record<string, string>> = BALANCER_SENTENCES,
): Command {
  const text = () => `\nPolicies:\n${rows(command, policies)}\n\nBalancers:\n${rows(command, balancers)}`;
  return command.addHelpText('after', text);
}

/** A line of help for each name. */
export function rows(command: Command, sentences: Readonly<Record<string, string>>): string {
  const help = command.createHelp();
  const width = Math.max(...Object.keys(sentences).map((name) => name.length));
  return Object.entries(sentences)
    .map(([name, sentence]) => help.formatItem(name, width, sentence, help))
    .join('\n');
}
