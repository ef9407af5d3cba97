import { z } from 'zod';
import { distribution, largest, smallest, type Distribution } from './distribution.js';

/**
 * Upper bound on the calls of a program: far more than in any recording, and few enough to hold several programs at a
 * time.
 */
const CALLS_MAX = 10_000;
const TOKENS_MAX = 1_000_000;
const REPORTS_TOKENS_MAX = 100_000_000;
/** Few enough to be remembered all at once. */
const FAMILIES_MAX = 10_000;
const TENANTS_MAX = 10_000;
const WORKLOADS_MAX = 1000;
const WEEK_MS = 7 * 24 * 3600 * 1000;

const calls = distribution(1, CALLS_MAX);
const tokens = distribution(1, TOKENS_MAX);
const tokensOrNone = distribution(0, TOKENS_MAX);
const ms = distribution(0, WEEK_MS);
const weight = z.number().gt(0).max(1e6);
const name = z
  .string()
  .regex(/^[\w./-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, dashes, underscores or slashes');

const source = z.string().min(1).exactOptional().describe('Source of the value; not used.');

const text = z.strictObject({
  name: name.describe('Name of the text: equal names mean equal text, in all programs.'),
  tokens: z.int().min(1).max(TOKENS_MAX).describe('Length of the text.'),
  source,
});

const tool = z.strictObject({
  name: name.describe('Name of the tool.'),
  weight: weight.default(1).describe('Relative frequency of calls.'),
  ms: ms.describe('Run time.'),
  resultTokens: tokensOrNone.describe('Tokens of its result in the next prompt.'),
});

const agentShape = {
  kind: z.literal('agent'),
  system: z
    .array(
      text.extend({
        weight: weight.default(1).describe('Relative frequency among programs.'),
        families: z
          .int()
          .min(1)
          .max(FAMILIES_MAX)
          .default(1)
          .describe('Number of such texts, one per agent type; each program begins with one of them.'),
      }),
    )
    .max(100)
    .default([])
    .describe('System prompts including tools; each program begins with one of them.'),
  turns: calls.default(1).describe('Number of user messages.'),
  inputTokens: tokens.describe('User message of a turn.'),
  firstInputTokens: tokens.exactOptional().describe('First user message.'),
  callsPerTurn: calls.default(1).describe('Calls per turn; all but the last ask for a tool.'),
  outputTokens: tokens.describe('Answer of a call, with its reasoning.'),
  answerTokens: tokens.exactOptional().describe('The last answer of a turn, which asks for no tool.'),
  reasoningTokens: tokensOrNone.default(0).describe('Reasoning within an answer; it is not sent back.'),
  tools: z.array(tool).max(100).default([]).describe('Tools; each call within a turn asks for one.'),
  thinkMs: ms.default(0).describe('Time from the end of a turn to the next message.'),
  contextTokensMax: z
    .int()
    .min(2)
    .max(100_000_000)
    .default(131_072)
    .describe(
      'Longest prompt plus answer; a longer first message is cut, and a program ends before a later call that would exceed it.',
    ),
};
const agent = z.strictObject(agentShape).superRefine(checkAgent);

const asking = (answer: string) =>
  z.strictObject({
    system: text.describe('System prompt of these calls: `name` and `tokens`, as in `system[]`.'),
    outputTokens: tokens.describe(answer),
  });

const tree = z.strictObject({
  kind: z.literal('tree'),
  inputTokens: tokens.describe('Question.'),
  expansions: calls.describe('Number of nodes expanded, one after the other.'),
  branch: calls.describe('Children per node: parallel calls with the same prompt.'),
  depthMax: distribution(1, 100).describe('Depth of the deepest nodes; the root is 0.'),
  rolloutDepth: calls.describe('Depth to which children are expanded in turn, before another leaf is selected.'),
  expand: asking('Answer: a child’s thought and action.').describe('Calls that propose children.'),
  evaluate: asking('Answer: the judgement.').describe('Parallel calls that judge the children, one each.'),
  resultTokens: tokensOrNone.describe('Result of an action; part of all prompts below that child.'),
  toolMs: ms.default(0).describe('Run time of all actions of a node’s children.'),
});

const mapReduce = z.strictObject({
  kind: z.literal('map-reduce'),
  system: text.exactOptional().describe('System prompt of the parent: `name` and `tokens`, as in `system[]`.'),
  inputTokens: tokens.describe('Task.'),
  outputTokens: tokens.describe('Answer of the parent: a plan, or a summary and a new plan.'),
  rounds: calls.default(1).describe('Number of rounds of sub-agents.'),
  subAgents: calls.describe('Parallel sub-agents per round; each is a thread.'),
  subAgent: z
    .strictObject(agentShape)
    .omit({ kind: true })
    .superRefine(checkAgent)
    .describe('A sub-agent, with the keys of `agent`. Its last answer is its report.'),
});

const mixture = z.strictObject({
  kind: z.literal('mixture'),
  of: z
    .record(name, weight)
    .refine((of) => Object.keys(of).length > 0, 'must name at least one workload')
    .describe('Workloads with their relative frequencies.'),
  tenants: z
    .record(name, z.int().min(1).max(TENANTS_MAX))
    .exactOptional()
    .describe('Tenants of each workload, with equal shares of its programs. Absent: one tenant for all.'),
});

export const specSchema = z.discriminatedUnion('kind', [
  agent,
  tree.superRefine(checkTree),
  mapReduce.superRefine(checkMapReduce),
  mixture,
]);

export type Spec = z.output<typeof specSchema>;
export type SpecInput = z.input<typeof specSchema>;
export type AgentSpec = Omit<z.output<typeof agent>, 'kind'>;
export type TreeSpec = z.output<typeof tree>;
export type MapReduceSpec = z.output<typeof mapReduce>;

export const fileSchema = z.strictObject({
  workload: name.exactOptional().describe('Workload to run; optional if there is only one.'),
  workloads: z
    .record(name, specSchema)
    .refine((all) => Object.keys(all).length > 0, 'must hold at least one workload')
    .refine((all) => Object.keys(all).length <= WORKLOADS_MAX, `must hold at most ${WORKLOADS_MAX} workloads`)
    .describe('Workloads by name. A mixture may also name the built-in ones.'),
});

function problem(context: z.RefinementCtx, path: string, message: string): void {
  context.addIssue({ code: 'custom', path: [path], message });
}

function checkAgent(spec: AgentSpec, context: z.RefinementCtx): void {
  if (agentCalls(spec) > CALLS_MAX)
    problem(context, 'callsPerTurn', `may come to more than ${CALLS_MAX} calls in all turns of a program`);
  if (largest(spec.callsPerTurn) > 1 && spec.tools.length === 0)
    problem(context, 'tools', 'must name at least one, since a turn may have several calls');
  const systemTokens = Math.max(0, ...spec.system.map((each) => each.tokens));
  if (systemTokens + smallest(spec.firstInputTokens ?? spec.inputTokens) + longestAnswer(spec) > spec.contextTokensMax)
    problem(
      context,
      'contextTokensMax',
      'must hold the longest system prompt, the shortest first message and the longest answer',
    );
}

function checkTree(spec: TreeSpec, context: z.RefinementCtx): void {
  if (2 * largest(spec.expansions) * largest(spec.branch) > CALLS_MAX)
    problem(context, 'expansions', `may come to more than ${CALLS_MAX} calls, two for each child`);
}

function checkMapReduce(spec: MapReduceSpec, context: z.RefinementCtx): void {
  if (largest(spec.rounds) * (1 + largest(spec.subAgents) * agentCalls(spec.subAgent)) >= CALLS_MAX)
    problem(context, 'subAgents', `may come to more than ${CALLS_MAX} calls in all rounds of a program`);
  if (largest(spec.rounds) * largest(spec.subAgents) * longestAnswer(spec.subAgent) > REPORTS_TOKENS_MAX)
    problem(context, 'subAgents', `may report more than ${REPORTS_TOKENS_MAX} tokens in all rounds of a program`);
}

const agentCalls = ({ turns, callsPerTurn }: { turns: Distribution; callsPerTurn: Distribution }): number =>
  largest(turns) * largest(callsPerTurn);

const longestAnswer = ({ outputTokens, answerTokens }: Pick<AgentSpec, 'outputTokens' | 'answerTokens'>): number =>
  Math.max(largest(outputTokens), largest(answerTokens ?? outputTokens));
