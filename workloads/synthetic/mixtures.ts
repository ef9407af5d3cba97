import { logNormal } from './distribution.js';
import type { SpecInput } from './spec.js';

const source = 'assumed: sizes of a company’s assistant';

/** One-call questions over documents, coding agents and people on the same engines: the cost of one class to another. */
export const TEAM: SpecInput = { kind: 'mixture', of: { rag: 60, coder: 30, people: 10 } };

export const TEAM_PARTS: Readonly<Record<string, SpecInput>> = {
  rag: {
    kind: 'agent',
    system: [{ name: 'rag', tokens: 300, source }],
    inputTokens: logNormal(3500, 7000, { max: 12_000 }, source),
    outputTokens: logNormal(150, 400, { max: 1000 }, source),
  },
  coder: {
    kind: 'agent',
    system: [{ name: 'coder', tokens: 4000, source }],
    inputTokens: 1500,
    callsPerTurn: 20,
    outputTokens: logNormal(120, 800, { max: 4000 }, source),
    tools: [
      {
        name: 'bash',
        ms: logNormal(3000, 60_000, { max: 300_000 }, source),
        resultTokens: logNormal(600, 5000, { max: 20_000 }, source),
      },
    ],
  },
  people: {
    kind: 'agent',
    system: [{ name: 'chat', tokens: 500, source }],
    turns: { dist: 'geometric', mean: 4, max: 20, source },
    inputTokens: logNormal(60, 500, { max: 4000 }, source),
    outputTokens: logNormal(250, 900, { max: 2000 }, source),
    thinkMs: logNormal(30_000, 180_000, { max: 600_000 }, source),
  },
};

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
