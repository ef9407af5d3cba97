import type { DistributionInput } from './distribution.js';
import type { SpecInput } from './spec.js';

const SHAREGPT = 'ShareGPT (94,145 conversations): WildChat, arXiv 2405.01470, table 1';
const BFCL = 'measured: bfcl/BFCL_v4_multi_turn_base.json.gz and its possible_answer, at four bytes a token';
const TAU = 'measured: tau-bench/gpt-4o-airline.json.gz, at four bytes a token';
const LATS = 'LATS for HotPotQA (github.com/lapisrocks/LanguageAgentTreeSearch, hotpot/)';
const MINI_SWE = 'measured: mini-swe-agent, 60 sessions with 2,265 calls';
const CGROUP = 'measured: agentcgroup, 40 sessions with 1,848 calls';
const WEKA = 'measured: weka-claude-code, 33 sub-agents of 6 sessions';

/** People who talk with a model, as in ShareGPT. */
const chat: SpecInput = {
  kind: 'agent',
  system: [{ name: 'chat', tokens: 100 }],
  turns: { dist: 'geometric', mean: 3.55, max: 40, source: `mean 3.51 turns, ${SHAREGPT}` },
  inputTokens: {
    dist: 'log-normal',
    median: 30,
    p95: 330,
    min: 2,
    max: 8000,
    source: `mean 94, standard deviation 626, ${SHAREGPT}`,
  },
  outputTokens: {
    dist: 'gamma',
    mean: 348,
    cv: 0.775,
    min: 4,
    max: 2048,
    source: `mean 348, standard deviation 270, ${SHAREGPT}`,
  },
  thinkMs: {
    dist: 'log-normal',
    median: 45_000,
    p95: 200_000,
    max: 1_800_000,
    source: 'assumed: mean 68 s, in which 270 words are read at 238 a minute (Brysbaert 2019)',
  },
};

/** BFCL's eight toolsets, of about 15 functions each: a program has one or two of them. */
const react: SpecInput = {
  kind: 'agent',
  system: ['files', 'vehicle', 'trading', 'travel', 'messages', 'posts', 'tickets', 'maths'].map((name) => ({
    name: `react/${name}`,
    tokens: 1540,
  })),
  turns: {
    dist: 'quantiles',
    points: steps([1, 0.015], [2, 0.215], [3, 0.465], [4, 0.715], [5, 0.93], [6, 0.99], [7, 1]),
    source: `mean 3.67, ${BFCL}`,
  },
  inputTokens: { dist: 'log-normal', median: 41, p95: 92, min: 4, max: 233, source: `mean 45.5, ${BFCL}` },
  callsPerTurn: {
    dist: 'quantiles',
    points: steps([1, 0.004], [2, 0.65], [3, 0.862], [4, 0.954], [5, 0.981], [6, 0.996], [8, 1]),
    source: `one for each tool call, mean 1.56, and the answer, ${BFCL}`,
  },
  outputTokens: { dist: 'log-normal', median: 45, p95: 150, min: 5, max: 314, source: `mean 58, median 49, ${TAU}` },
  tools: [
    {
      name: 'api',
      ms: { dist: 'log-normal', median: 20, p95: 60, max: 1000, source: `Read, Edit, Grep, Glob, Write, ${CGROUP}` },
      resultTokens: {
        dist: 'quantiles',
        points: [
          [0, 0],
          [0.05, 0],
          [0.25, 13],
          [0.5, 167],
          [0.75, 202],
          [0.95, 314],
          [0.99, 1180],
          [1, 2029],
        ],
        source: `mean 160, ${TAU}`,
      },
    },
  ],
};

/** Monte Carlo tree search by LATS: five children at a time, each judged. */
const mcts: SpecInput = {
  kind: 'tree',
  inputTokens: { dist: 'log-normal', median: 25, p95: 45, min: 8, max: 100, source: 'questions of HotpotQA' },
  expansions: {
    dist: 'log-normal',
    median: 10,
    p95: 35,
    min: 1,
    max: 100,
    source: 'mean 67 nodes, LATS, arXiv 2310.04406, costs on HotPotQA; at most 50 iterations; spread assumed',
  },
  branch: { dist: 'constant', value: 5, source: `n_generate_sample, ${LATS}lats.sh` },
  depthMax: 7,
  rolloutDepth: { dist: 'uniform', min: 2, max: 5, source: `thoughts of the examples, ${LATS}hotpot.py` },
  expand: {
    system: { name: 'mcts/expand', tokens: 1650 },
    outputTokens: { dist: 'log-normal', median: 45, p95: 100, min: 15, max: 400, source: `${LATS}tot_10it.log` },
  },
  evaluate: {
    system: { name: 'mcts/evaluate', tokens: 1500 },
    outputTokens: { dist: 'log-normal', median: 95, p95: 180, min: 40, max: 500, source: `${LATS}hotpot.py` },
  },
  resultTokens: { dist: 'log-normal', median: 90, p95: 200, min: 5, max: 400, source: `${LATS}tot_10it.log` },
  toolMs: { dist: 'log-normal', median: 600, p95: 1500, max: 10_000, source: `${LATS}tot_10it.log` },
};

/** Sub-agents that read, and a parent that sums up. */
const mapReduce: SpecInput = {
  kind: 'map-reduce',
  system: { name: 'map-reduce/parent', tokens: 1500 },
  inputTokens: { dist: 'log-normal', median: 500, p95: 2000, min: 20, max: 10_000, source: 'assumed' },
  outputTokens: { dist: 'log-normal', median: 300, p95: 1200, min: 50, max: 4000, source: 'assumed' },
  subAgents: {
    dist: 'quantiles',
    points: [
      [0, 3],
      [0.3, 3],
      [0.5, 4.5],
      [0.8, 6],
      [1, 12],
    ],
    source: WEKA,
  },
  subAgent: {
    system: [{ name: 'map-reduce/sub-agent', tokens: 1200 }],
    inputTokens: { dist: 'log-normal', median: 200, p95: 800, min: 20, max: 4000, source: 'assumed' },
    callsPerTurn: {
      dist: 'quantiles',
      points: [
        [0, 3],
        [0.05, 4],
        [0.25, 7],
        [0.5, 10],
        [0.75, 12],
        [1, 24],
      ],
      source: WEKA,
    },
    outputTokens: {
      dist: 'quantiles',
      points: [
        [0, 62],
        [0.05, 104],
        [0.25, 171],
        [0.5, 225],
        [0.75, 264],
        [0.95, 352],
        [0.995, 572],
        [1, 1080],
      ],
      source: `mean 224, ${WEKA}`,
    },
    answerTokens: {
      dist: 'quantiles',
      points: [
        [0, 1379],
        [0.05, 1819],
        [0.25, 2526],
        [0.5, 2984],
        [0.75, 3409],
        [0.95, 5019],
        [1, 5084],
      ],
      source: `mean 3,044, ${WEKA}`,
    },
    tools: [
      {
        name: 'Read',
        ms: { dist: 'log-normal', median: 13, p95: 43, max: 6400, source: CGROUP },
        resultTokens: {
          dist: 'log-normal',
          median: 300,
          p95: 2500,
          max: 10_000,
          source: `growth of a call, ${CGROUP}`,
        },
      },
    ],
  },
};

/** What a call's tool adds to the context of a SWE agent. */
const results: DistributionInput = {
  dist: 'quantiles',
  points: [
    [0, 0],
    [0.05, 3],
    [0.1, 17],
    [0.25, 22],
    [0.5, 103],
    [0.75, 294],
    [0.9, 794],
    [0.95, 1456],
    [0.99, 3381],
    [0.999, 4303],
    [1, 8110],
  ],
  source: `mean 312, ${MINI_SWE}`,
};
const tool = (name: string, weight: number, median: number, p95: number, max: number) => ({
  name,
  weight,
  ms: { dist: 'log-normal' as const, median, p95, max, source: CGROUP },
  resultTokens: results,
});

/** Agents that work on SWE-bench tasks: the sizes of mini-swe-agent, the tools of Claude Code. */
const coding: SpecInput = {
  kind: 'agent',
  system: [{ name: 'coding', tokens: 136 }],
  inputTokens: { dist: 'log-normal', median: 1530, p95: 3300, min: 500, max: 4000, source: `mean 1,708, ${MINI_SWE}` },
  callsPerTurn: {
    dist: 'quantiles',
    points: [
      [0, 12],
      [0.05, 18],
      [0.25, 26],
      [0.5, 33],
      [0.75, 42],
      [0.9, 64],
      [0.95, 78],
      [1, 132],
    ],
    source: `mean 38, ${MINI_SWE}`,
  },
  outputTokens: {
    dist: 'quantiles',
    points: [
      [0, 16],
      [0.05, 23],
      [0.1, 27],
      [0.25, 44],
      [0.5, 93],
      [0.75, 308],
      [0.9, 711],
      [0.95, 1114],
      [0.99, 3042],
      [0.995, 3702],
      [0.999, 8117],
      [1, 8789],
    ],
    source: `mean 318, ${MINI_SWE}; without its longest, 57,811`,
  },
  reasoningTokens: {
    dist: 'quantiles',
    points: [
      [0, 0],
      [0.967, 0],
      [0.99, 172],
      [1, 725],
    ],
    source: `mean 5, ${MINI_SWE}`,
  },
  tools: [
    {
      name: 'Bash',
      weight: 1025,
      ms: {
        dist: 'quantiles',
        points: [
          [0, 10],
          [0.05, 20],
          [0.25, 57],
          [0.5, 6774],
          [0.75, 8545],
          [0.9, 10_760],
          [0.95, 12_985],
          [0.99, 28_079],
          [1, 124_376],
        ],
        source: CGROUP,
      },
      resultTokens: results,
    },
    tool('Read', 366, 13, 43, 6408),
    tool('Edit', 259, 23, 57, 7341),
    tool('TodoWrite', 186, 13, 43, 4377),
    tool('Grep', 131, 25, 53, 59),
    tool('Glob', 97, 25, 55, 234),
    tool('Write', 39, 25, 61, 4652),
    tool('WebFetch', 1, 15_600, 40_000, 120_000),
  ],
};

/** The built-in workloads, in the shape of a file's. */
export const BUILT_IN = {
  chat,
  react,
  mcts,
  'map-reduce': mapReduce,
  coding,
  mixed: { kind: 'mixture', of: { chat: 1, react: 1, mcts: 1 } },
  fleet: { kind: 'mixture', of: { chat: 1, react: 1, mcts: 1, coding: 1 } },
} satisfies Record<string, SpecInput>;

type Points = [share: number, value: number][];

/** Whole numbers with the share of all that are at most so large. */
function steps(...counted: readonly (readonly [value: number, share: number])[]): Points {
  return counted.flatMap(([value, share], index): Points => [
    [counted[index - 1]?.[1] ?? 0, value],
    [share, value],
  ]);
}
