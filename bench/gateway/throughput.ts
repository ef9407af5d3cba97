import { printTable, say, show } from '../numbers.js';
import type { ThroughputJob } from './load.js';
import { Comparison, costOfRequests, inRounds, rateText, type RateKey } from './rounds.js';
import { CONDITIONS, Stage, type Proxy, type TargetName } from './stage.js';

const KB = 1024;

type Cell = Pick<ThroughputJob, 'stream' | 'repeated' | 'bytes' | 'connections'>;

const sizes = (stream: boolean, repeated: boolean): Cell[] =>
  [2, 64, 512].map((kb) => ({ stream, repeated, bytes: kb * KB, connections: 32 }));

const TABLES: Readonly<Record<string, readonly Cell[]>> = {
  'JSON answers of 0.7 KB, agents’ bodies': [
    ...sizes(false, false),
    ...[1, 1000].map((connections) => ({ stream: false, repeated: false, bytes: 2 * KB, connections })),
  ],
  'Server-sent events, 32 chunks an answer, agents’ bodies': sizes(true, false),
  'JSON answers of 0.5 KB, one body again and again': sizes(false, true),
};

/** Requests a second and processor time a request: the gateway against other proxies, in interleaved rounds. */
export async function benchThroughput(quick: boolean): Promise<void> {
  say(`${CONDITIONS}
Agents' bodies grow by each answer and a tool's result, from half the size given to one and a half times it; then another
begins. One body again and again is the worst case: no history matches it. maitred schedules every call (plas, history matching, priority and usage fields set, a log line each);
http-proxy is @fastify/http-proxy, pass-through is node:http and undici and nothing else, parse-once also reads each body
and each JSON answer whole and parses it once: the least that a scheduler of calls can do. direct is no proxy at all: the
most that the load generator and the mock engine can do. Medians of the rounds; a ratio is the median of the rounds' ratios.
CPU is user and system time of all threads of the proxy for one request; ~ marks proxies that had idle time: there the
throughput is the latency's or the load's, and CPU tells more.\n`);
  await Stage.with(async (stage) => {
    const proxies = await stage.startAll();
    // A quick run has one round to warm up, in each cell.
    if (!quick) for (const proxy of proxies) await warmUp(stage, proxy);
    for (const [title, cells] of Object.entries(TABLES)) {
      const rows: string[][] = [];
      for (const cell of quick ? cells.slice(0, 1) : cells)
        rows.push(rowOf(cell, await measure(stage, proxies, cell, quick)));
      say(`\n${title}`);
      printTable(HEADINGS, rows);
    }
    say(`\nCalls that the gateway scheduled and completed: ${await completed(proxies)}`);
  });
}

/** Requests until V8 has compiled the code on their path; on a loaded machine this takes long. */
const WARM_REQUESTS = 10_000;
const WARM_SECONDS_MAX = 30;

async function warmUp(stage: Stage, { url }: Proxy): Promise<void> {
  const job = { type: 'throughput', url, bytes: 2 * KB, connections: 32, seconds: 1, repeated: false } as const;
  let requests = 0;
  for (let second = 0; second < WARM_SECONDS_MAX && requests < WARM_REQUESTS; second += 2) {
    for (const stream of [false, true]) requests += (await stage.throughput({ ...job, stream })).requests;
  }
}

async function measure(stage: Stage, proxies: readonly Proxy[], cell: Cell, quick: boolean) {
  const rounds = quick ? 1 : 3;
  const seconds = quick ? 0.5 : cell.connections > 100 ? 3 : 0.75;
  // The first round only warms up: each path of each proxy has been compiled after it.
  const samples = await inRounds(proxies, { warm: 1, rounds }, async (proxy) => {
    const job = { type: 'throughput', url: proxy.url, ...cell, seconds } as const;
    const cost = await costOfRequests(proxy, () => stage.throughput(job));
    return { ...cost, perSecond: cost.requests / cost.seconds };
  });
  return new Comparison<TargetName, RateKey>(samples);
}

const CPU_OF = ['http-proxy', 'pass-through', 'parse-once', 'maitred'] as const;
const HEADINGS = [
  'body, connections',
  ...['direct', ...CPU_OF].map((name) => `${name}/s`),
  'of http-proxy',
  'of parse-once',
  ...CPU_OF.map((name, i) => (i === 0 ? `CPU µs: ${name}` : name)),
  'of http-proxy',
  'of parse-once',
];

function rowOf(cell: Cell, compared: Awaited<ReturnType<typeof measure>>): string[] {
  return [
    `${cell.bytes / KB} KB, ${cell.connections}`,
    ...(['direct', ...CPU_OF] as const).map((name) => rateText(compared, name)),
    compared.ratio('maitred', 'perSecond', 'http-proxy'),
    compared.ratio('maitred', 'perSecond', 'parse-once'),
    ...CPU_OF.map((name) => show(compared.middle(name, 'cpuMicros'))),
    compared.ratio('maitred', 'cpuMicros', 'http-proxy'),
    compared.ratio('maitred', 'cpuMicros', 'parse-once'),
  ];
}

/** Checks by the gateway's own counters that the calls were scheduled, and not passed through. */
async function completed(proxies: readonly Proxy[]): Promise<string> {
  const url = proxies.find((proxy) => proxy.name === 'maitred')?.url ?? '';
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return show(Number(/^maitred_calls_ended_total\{outcome="completed"\} (\d+)/m.exec(metrics)?.[1]));
}
