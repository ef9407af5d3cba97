import type { AgentCall } from '../program.js';
import { addAgent } from './agent-programs.js';
import type { Dice } from '../dice.js';
import { drawWhole } from './distribution.js';
import type { MapReduceSpec } from './spec.js';

/**
 * A parent that plans, runs sub-agents in parallel, waits for all of them and summarises their reports. The summary may
 * be the plan for the next sub-agents. Each sub-agent is a thread with a conversation of its own.
 */
export function mapReduceCalls(spec: MapReduceSpec, dice: Dice): AgentCall[] {
  const calls: AgentCall[] = [];
  const { system, subAgent } = spec;
  let promptTokens = (system?.tokens ?? 0) + drawWhole(spec.inputTokens, dice);
  let prefix: AgentCall['prefix'] = system && { name: system.name, tokens: system.tokens };
  let after: readonly number[] = [];
  const rounds = drawWhole(spec.rounds, dice);
  for (let round = 1; round <= rounds + 1; round += 1) {
    const outputTokens = drawWhole(spec.outputTokens, dice);
    const parent: number =
      calls.push({ after, thread: '', gapMs: 0, promptTokens, outputTokens, ...(prefix && { prefix }) }) - 1;
    if (round > rounds) break;
    prefix = { call: parent, tokens: promptTokens + outputTokens };
    promptTokens += outputTokens;
    const ends = [parent];
    const subAgents = drawWhole(spec.subAgents, dice);
    for (let index = 1; index <= subAgents; index += 1) {
      promptTokens += addAgent(calls, subAgent, { thread: `${round}.${index}`, after: [parent] }, dice);
      ends.push(calls.length - 1);
    }
    after = ends;
  }
  return calls;
}
