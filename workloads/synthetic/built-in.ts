import { counts, gamma, logNormal, quantiles } from './distribution.js';
import type { SpecInput } from './spec.js';
import { TEAM, TEAM_PARTS, TENANTS, tenantParts, type AgentInput } from './mixtures.js';

const SHAREGPT = 'ShareGPT (94,145 conversations): WildChat, arXiv 2405.01470, table 1';
const BFCL = 'measured: bfcl/BFCL_v4_multi_turn_base.json.gz and its possible_answer, at four bytes a token';
const TAU = 'measured: tau-bench/gpt-4o-airline.json.gz, at four bytes a token';
const LATS = 'LATS for HotpotQA, github.com/lapisrocks/LanguageAgentTreeSearch, hotpot';
const MINI_SWE = 'measured: mini-swe-agent, 60 sessions with 2,265 calls';
const CGROUP = 'measured: agentcgroup, 40 sessions with 1,848 calls';
const WEKA = 'measured: weka-claude-code, 33 sub-agents of 6 sessions';

/**
 * People who talk with a model, as in ShareGPT. They reply at once, as when the recording is replayed. Autellix's
 * measure is time per token; otherwise reading time would dominate it.
 */
const chat: SpecInput = {
  kind: 'agent',
  system: [{ name: 'chat', tokens: 100, source: 'assumed' }],
  turns: { dist: 'geometric', mean: 3.55, max: 40, source: `mean 3.51 turns, ${SHAREGPT}` },
  inputTokens: logNormal(30, 330, { min: 2, max: 8000 }, `mean 94, standard deviation 626, ${SHAREGPT}`),
  outputTokens: gamma(348, 0.775, { min: 4, max: 2048 }, `mean 348, standard deviation 270, ${SHAREGPT}`),
};

/** BFCL's eight toolsets, of about 15 functions each: a program has one or two of them. */
const react: AgentInput = {
  kind: 'agent',
  system: ['files', 'vehicle', 'trading', 'travel', 'messages', 'posts', 'tickets', 'maths'].map((name) => ({
    name: `react/${name}`,
    tokens: 1540,
    source: `6,155 bytes of rules, ${TAU}`,
  })),
  turns: counts(`mean 3.67, ${BFCL}`, [1, 0.015], [2, 0.215], [3, 0.465], [4, 0.715], [5, 0.93], [6, 0.99], [7, 1]),
  inputTokens: logNormal(41, 92, { min: 4, max: 233 }, `mean 45.5, ${BFCL}`),
  callsPerTurn: counts(
    `one for each tool call, mean 1.56, and the answer, ${BFCL}`,
    [1, 0.004],
    [2, 0.65],
    [3, 0.862],
    [4, 0.954],
    [5, 0.981],
    [6, 0.996],
    [8, 1],
  ),
  outputTokens: logNormal(
    17,
    48,
    { min: 8, max: 100 },
    `a tool call's 55 bytes in the mean, 39 in the median, and what is about it in JSON, ${BFCL}`,
  ),
  answerTokens: quantiles(
    [0, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1],
    [11, 29, 44, 65, 101, 144, 177, 246, 314],
    `answers without a tool call, mean 79, ${TAU}`,
  ),
  tools: [
    {
      name: 'api',
      ms: logNormal(20, 60, { max: 1000 }, `Read, Edit, Grep, Glob, Write, ${CGROUP}`),
      resultTokens: quantiles(
        [0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1],
        [0, 0, 13, 167, 202, 314, 1180, 2029],
        `mean 160, ${TAU}`,
      ),
    },
  ],
};

/** Monte Carlo tree search by LATS: five children at a time, each judged. */
const mcts: SpecInput = {
  kind: 'tree',
  inputTokens: logNormal(25, 45, { min: 8, max: 100 }, `questions in ${LATS}/tot_10it.log; spread assumed`),
  expansions: gamma(
    16,
    1.3,
    { min: 1, max: 175 },
    'chosen between two: 67 nodes, of five an expansion, where LATS (arXiv 2310.04406) answers a question of HotpotQA, more where it does not; and about 0.2 programs a second that an engine sustains in Autellix. Spread assumed',
  ),
  branch: { dist: 'constant', value: 5, source: `n_generate_sample, ${LATS}/lats.sh` },
  depthMax: { dist: 'constant', value: 7, source: `${LATS}/lats.py` },
  rolloutDepth: { dist: 'uniform', min: 2, max: 5, source: `thoughts of the examples, ${LATS}/hotpot.py` },
  expand: {
    system: { name: 'mcts/expand', tokens: 1650, source: `cot_prompt, ${LATS}/hotpot.py, at four bytes a token` },
    outputTokens: logNormal(45, 100, { min: 15, max: 400 }, `read off ${LATS}/tot_10it.log; spread assumed`),
  },
  evaluate: {
    system: { name: 'mcts/evaluate', tokens: 1700, source: `value_prompt, ${LATS}/hotpot.py, at four bytes a token` },
    outputTokens: logNormal(
      95,
      180,
      { min: 40, max: 500 },
      `read off the examples in ${LATS}/hotpot.py; spread assumed`,
    ),
  },
  resultTokens: logNormal(90, 200, { min: 5, max: 400 }, `read off ${LATS}/tot_10it.log; spread assumed`),
  toolMs: logNormal(600, 1500, { max: 10_000 }, `0.3 to 0.9 s in ${LATS}/tot_10it.log; tail assumed`),
};

/** Sub-agents that read, and a parent that summarises. */
const mapReduce: SpecInput = {
  kind: 'map-reduce',
  system: { name: 'map-reduce/parent', tokens: 1500, source: 'assumed' },
  inputTokens: logNormal(500, 2000, { min: 20, max: 10_000 }, 'assumed'),
  outputTokens: logNormal(300, 1200, { min: 50, max: 4000 }, 'assumed'),
  subAgents: quantiles([0, 0.3, 0.5, 0.8, 1], [3, 3, 4.5, 6, 12], WEKA),
  subAgent: {
    system: [{ name: 'map-reduce/sub-agent', tokens: 1200, source: 'assumed: less than the 10,000 of Claude Code' }],
    inputTokens: logNormal(200, 800, { min: 20, max: 4000 }, 'assumed'),
    callsPerTurn: quantiles([0, 0.05, 0.25, 0.5, 0.75, 1], [3, 4, 7, 10, 12, 24], WEKA),
    outputTokens: quantiles(
      [0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.995, 1],
      [62, 104, 171, 225, 264, 352, 572, 1080],
      `mean 224, ${WEKA}`,
    ),
    answerTokens: quantiles(
      [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1],
      [1379, 1819, 2526, 2984, 3409, 5019, 5084],
      `mean 3,044, ${WEKA}`,
    ),
    tools: [
      {
        name: 'Read',
        ms: logNormal(13, 43, { max: 6400 }, CGROUP),
        resultTokens: logNormal(200, 2555, { max: 10_000 }, `growth of a call, ${CGROUP}`),
      },
    ],
  },
};

/** Tokens that a tool's result adds to the context of a SWE agent. */
const results = quantiles(
  [0, 0.05, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 1],
  [0, 3, 22, 103, 150, 243, 373, 794, 1456, 2817, 3381, 4303, 8110],
  `mean 317, ${MINI_SWE}`,
);
const tool = (name: string, weight: number, median: number, p95: number, max: number, source = CGROUP) => ({
  name,
  weight,
  ms: logNormal(median, p95, { max }, source),
  resultTokens: results,
});

/** Agents that work on SWE-bench tasks: the sizes of mini-swe-agent, the tools of Claude Code. */
const coding: AgentInput = {
  kind: 'agent',
  system: [{ name: 'coding', tokens: 136, source: MINI_SWE }],
  inputTokens: logNormal(1620, 2900, { min: 1185, max: 3913 }, `first prompts, mean 1,844, ${MINI_SWE}`),
  callsPerTurn: quantiles(
    [0, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 1],
    [13, 18, 26, 33, 42, 64, 75, 87, 132],
    `mean 38, ${MINI_SWE}`,
  ),
  outputTokens: quantiles(
    [0, 0.05, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1],
    [16, 23, 44, 93, 148, 240, 403, 708, 1112, 1858, 2920, 3547, 6956, 8789],
    `mean 292, ${MINI_SWE}; without its longest, 57,811`,
  ),
  reasoningTokens: quantiles([0, 0.967, 0.99, 1], [0, 0, 172, 725], `mean 5, ${MINI_SWE}`),
  tools: [
    {
      name: 'Bash',
      weight: 1025,
      ms: quantiles(
        [0, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1],
        [10, 20, 57, 6774, 8545, 10_760, 12_985, 28_079, 124_376],
        CGROUP,
      ),
      resultTokens: results,
    },
    tool('Read', 366, 13, 43, 6408),
    tool('Edit', 259, 23, 57, 7341),
    tool('TodoWrite', 186, 13, 43, 4377),
    tool('Grep', 131, 25, 53, 59),
    tool('Glob', 97, 25, 55, 234),
    tool('Write', 39, 25, 61, 4652),
    tool('WebFetch', 1, 13_000, 40_000, 120_000, 'mean 15.6 s in the whole public set of agentcgroup; spread assumed'),
  ],
};

/** The built-in workloads, in the same form as in a file. */
export const BUILT_IN = {
  chat,
  react,
  mcts,
  'map-reduce': mapReduce,
  coding,
  mixed: { kind: 'mixture', of: { chat: 1, react: 1, mcts: 1 } },
  fleet: { kind: 'mixture', of: { chat: 1, react: 1, mcts: 1, coding: 1 } },
  tenants: TENANTS,
  team: TEAM,
} satisfies Record<string, SpecInput>;

/** Parts of built-in mixtures that are not workloads of their own. */
export const PARTS: Readonly<Record<string, SpecInput>> = { ...tenantParts(coding, react), ...TEAM_PARTS };
