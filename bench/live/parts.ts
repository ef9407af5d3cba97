/** A measurement in real time, and the published table that it makes. */
export interface Part {
  readonly name: string;
  /** Table in lab/NOTEBOOK.md, unless another document is named. */
  readonly table: string;
  /** On two idle cores. */
  readonly minutes: number;
  /** Arguments of Node. */
  readonly args: readonly string[];
  /** Those that only show that it works; absent: it is left out then. */
  readonly quick?: readonly string[];
}

const BENCH = 'dist/bench/main.js';
const PEERS = 'dist/bench/peers/main.js';
const VITEST = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--config',
  'test/slow/vitest.config.ts',
  '--test-timeout',
  '3600000',
];

/** Benches by name: their table, and minutes. */
const COSTS: readonly (readonly [name: string, table: string, minutes: number])[] = [
  ['core', 'What it costs: a scheduling decision', 1],
  ['memory', 'What it costs: bytes of a program', 0.4],
  ['history', 'What it costs: reading and identify, by size', 0.3],
  ['latency', 'What it costs: milliseconds added', 1.8],
  ['throughput', 'What it costs: served, and CPU of a call', 2.6],
  ['relay', 'What it costs: relayed events', 1.2],
  ['streams', 'What it costs: memory of a stream', 0.9],
  ['bodies', 'Large bodies', 1.1],
  ['watching', 'Being watched', 0.5],
  ['cluster', 'docs/CLUSTER.md: What it costs', 0.8],
];

const bench = ([name, table, minutes]: (typeof COSTS)[number]): Part => ({
  name,
  table,
  minutes,
  args: [BENCH, name],
  quick: [BENCH, name, '--quick'],
});

export interface Tools {
  /** The command of vLLM Router; absent: the one on the PATH. */
  readonly router?: string;
  /** A vLLM to measure; absent: none. */
  readonly vllm?: string;
}

/** All live and cost figures that the documents publish. Two cores that nobody else uses make them in half an hour. */
export function partsOf({ router, vllm }: Tools): Part[] {
  const peer = router === undefined ? [] : ['--router', router];
  const peers = (load: string, minutes: number): Part => ({
    name: `peers-${load}`,
    table: 'Against vLLM Router',
    minutes,
    args: [PEERS, ...peer, '--loads', load],
  });
  const agreement = (name: string, filter: string, minutes: number): Part => ({
    name: `agreement-${name}`,
    table: 'Simulated and live',
    minutes,
    args: [...VITEST, 'agreement/agreement.test.ts', '-t', filter],
  });
  return [
    ...COSTS.map(bench),
    { ...peers('agents', 4.6), quick: [PEERS, ...peer, '--quick'] },
    peers('fleet', 4.2),
    peers('mixed', 3.4),
    agreement('fleet', 'programs of all sorts', 3.7),
    agreement('pair', 'two targets at once', 3.4),
    ...(vllm === undefined ? [] : [engine(vllm)]),
  ];
}

const engine = (url: string): Part => ({
  name: 'vllm',
  table: 'A real engine',
  minutes: 3.7,
  args: [PEERS, '--engine', url, '--targets', 'pass-through,fcfs-window,maitred'],
});
