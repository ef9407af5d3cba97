import { z } from 'zod';
import { distribution, largest, type Distribution } from './distribution.js';

/**
 * Upper bound on the calls of a program: far more than in any recording, and few enough to hold several programs at a
 * time.
 */
const CALLS_MAX = 10_000;
const TOKENS_MAX = 1_000_000;
const REPORTS_TOKENS_MAX = 100_000_000;
/** Few enough to be remembered all at once. */
const FAMILIES_MAX = 10_000;
/** Upper bound on the tenants of a workload. */
const TENANTS_MAX = 10_000;
/** Upper bound on the workloads of a file. */
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

const source = z.string().min(1).exactOptional().describe('Where it is from; nothing reads it.');

const text = z.strictObject({
  name: name.describe('Calls with the same name begin with the same text, in all programs.'),
  tokens: z.int().min(1).max(TOKENS_MAX).describe('Its length.'),
  source,
});

const tool = z.strictObject({
  name: name.describe('What it is called.'),
  weight: weight.default(1).describe('How often it is called, against the others.'),
  ms: ms.describe('How long it runs.'),
  resultTokens: tokensOrNone.describe('How much of what it says goes into the next prompt.'),
});

const agentShape = {
  kind: z.literal('agent'),
  system: z
    .array(
      text.extend({
        weight: weight.default(1).describe('How often a program has it, against the others.'),
        families: z
          .int()
          .min(1)
          .max(FAMILIES_MAX)
          .default(1)
          .describe('So many texts of this length, each program beginning with one of them: types of agents.'),
      }),
    )
    .max(100)
    .default([])
    .describe('System prompts with their tools, one of which opens each program.'),
  turns: calls.default(1).describe('How often somebody says something.'),
  inputTokens: tokens.describe('What is said in a turn.'),
  firstInputTokens: tokens.exactOptional().describe('What is said in the first turn.'),
  callsPerTurn: calls.default(1).describe('Calls of a turn: all but the last one ask for a tool.'),
  outputTokens: tokens.describe('What the answer of a call costs, reasoning included.'),
  answerTokens: tokens.exactOptional().describe('The same for the last call of a turn, which asks for no tool.'),
  reasoningTokens: tokensOrNone.default(0).describe('How much of it is reasoning, which is not sent back.'),
  tools: z.array(tool).max(100).default([]).describe('What the calls within a turn ask for, one each.'),
  thinkMs: ms.default(0).describe('From the end of a turn to what is said next.'),
  contextTokensMax: z
    .int()
    .min(2)
    .max(100_000_000)
    .default(131_072)
    .describe('Prompt and answer together: a program ends before the call that would have more.'),
};
const agent = z.strictObject(agentShape).superRefine(checkAgent);

const tree = z.strictObject({
  kind: z.literal('tree'),
  inputTokens: tokens.describe('The question.'),
  expansions: calls.describe('How many nodes are expanded, one after the other.'),
  branch: calls.describe('Children of a node: calls side by side with the same prompt.'),
  depthMax: distribution(1, 100).describe('Depth of the deepest nodes; the root is 0.'),
  rolloutDepth: calls.describe('Depth to which children are expanded in turn, before another leaf is selected.'),
  expand: z
    .strictObject({
      system: text.describe('What its prompts begin with.'),
      outputTokens: tokens.describe('A child: its thought and its action.'),
    })
    .describe('The calls that propose children.'),
  evaluate: z
    .strictObject({
      system: text.describe('What its prompts begin with.'),
      outputTokens: tokens.describe('The judgement.'),
    })
    .describe('The calls that judge them, one each, side by side.'),
  resultTokens: tokensOrNone.describe('What an action brings to light, as part of all prompts below that child.'),
  toolMs: ms.default(0).describe('How long the actions of all children of a node take.'),
});

const mapReduce = z.strictObject({
  kind: z.literal('map-reduce'),
  system: text.exactOptional().describe('What the prompts of the parent begin with.'),
  inputTokens: tokens.describe('The task.'),
  outputTokens: tokens.describe('What a call of the parent costs: it plans, or sums up and plans again.'),
  rounds: calls.default(1).describe('How often sub-agents are sent out.'),
  subAgents: calls.describe('Sub-agents of a round, side by side; each is a thread.'),
  subAgent: z
    .strictObject(agentShape)
    .omit({ kind: true })
    .superRefine(checkAgent)
    .describe('What a sub-agent is like: the keys of `agent`. Its last answer is its report.'),
});

const mixture = z.strictObject({
  kind: z.literal('mixture'),
  of: z
    .record(name, weight)
    .refine((of) => Object.keys(of).length > 0, 'must name at least one workload')
    .describe('Workloads and how often each is drawn, against the others.'),
  tenants: z
    .record(name, z.int().min(1).max(TENANTS_MAX))
    .exactOptional()
    .describe('Tenants of each workload, whose programs they share evenly. Absent: all are of one tenant.'),
});

/** Description of a workload's programs, from a file or `built-in.ts`. */
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

/** Contents of a file: workloads by name, and the one that the file is for. */
export const fileSchema = z.strictObject({
  workload: name.exactOptional().describe('Which of the workloads is run. Not needed where there is one only.'),
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
  if (systemTokens + longestAnswer(spec) >= spec.contextTokensMax)
    problem(context, 'contextTokensMax', 'must hold the longest system prompt and the longest answer');
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
