import type { SpecInput } from './spec.js';

export type AgentInput = Extract<SpecInput, { readonly kind: 'agent' }>;

const SAGA = 'BurstGPT-derived workload, SAGA (arXiv 2605.00528), section 8';

/**
 * Ten tenants of mixed intensity, after SAGA's experiment on fairness: three light ones (4 programs a minute each), four
 * medium ones (8) and three heavy ones (16), of which one makes its calls in bursts.
 */
export const TENANTS: SpecInput = {
  kind: 'mixture',
  of: { light: 12, medium: 32, heavy: 32, burst: 16 },
  tenants: { light: 3, medium: 4, heavy: 2, burst: 1 },
};

/**
 * Their programs: 10, 30 and 100 calls, and 10 sub-agents of 10 calls side by side. The paper gives no sizes of calls.
 * These read and use tools as coding agents do, and answer as briefly as agents with functions.
 */
export function tenantParts(
  coding: AgentInput,
  { outputTokens }: Pick<AgentInput, 'outputTokens'>,
): Record<string, SpecInput> {
  const constant = (value: number, source = SAGA) => ({ dist: 'constant' as const, value, source });
  const agent = (calls: number): AgentInput => ({
    ...coding,
    outputTokens,
    reasoningTokens: 0,
    callsPerTurn: constant(calls),
  });
  const subAgent: Omit<AgentInput, 'kind'> & { kind?: 'agent' } = agent(10);
  delete subAgent.kind;
  const { inputTokens } = coding;
  const burst: SpecInput = {
    kind: 'map-reduce',
    inputTokens,
    outputTokens,
    subAgents: constant(10, 'assumed'),
    subAgent,
  };
  return { light: agent(10), medium: agent(30), heavy: agent(100), burst };
}
