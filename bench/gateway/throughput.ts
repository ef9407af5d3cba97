import { median, printTable, ratio, say, show } from '../numbers.js';
import { CONDITIONS, Stage, TARGETS, type Proxy, type TargetName } from './stage.js';

const KB = 1024;
const BODIES = [2 * KB, 64 * KB, 512 * KB];
const CONNECTIONS = [1, 32, 1000];
/** Share of its core below which a proxy waited for the load, so that its throughput means little. */
const BUSY_MIN = 0.9;

interface Cell {
  readonly stream: boolean;
  readonly bytes: number;
  readonly connections: number;
}

interface Sample {
  readonly perSecond: number;
  readonly cpuMicros: number;
  /** Share of one core. */
  readonly busy: number;
}

/** Requests a second and processor time a request: the gateway against other proxies, in interleaved rounds. */
export async function benchThroughput(quick: boolean): Promise<void> {
  say(`${CONDITIONS}
Load: autocannon. maitred schedules every call (plas, history matching, priority and usage fields set, a log line each);
http-proxy is @fastify/http-proxy, pass-through is node:http and undici and nothing else, direct is no proxy at all: the
most that the load generator and the mock engine can do. Medians of the rounds; a ratio is the median of the rounds' ratios.
CPU is user and system time of all threads of the proxy for one request; ~ marks proxies that had idle time: there the
throughput is the latency's or the load's, and CPU tells more.\n`);
  const stage = new Stage();
  await stage.open();
  try {
    const proxies: Proxy[] = [];
    for (const name of TARGETS) proxies.push(await stage.start(name));
    // A quick run has one round to warm up, in each cell.
    if (!quick) for (const proxy of proxies) await warmUp(stage, proxy);
    for (const stream of [false, true]) {
      const connectionCounts = quick ? [32] : CONNECTIONS;
      const bodies = quick ? BODIES.slice(0, 1) : BODIES;
      const cells = bodies.flatMap((bytes) => connectionCounts.map((connections) => ({ stream, bytes, connections })));
      const rows: string[][] = [];
      for (const cell of cells) rows.push(rowOf(cell, await measure(stage, proxies, cell, quick)));
      say(stream ? '\nServer-sent events, 32 chunks an answer' : 'JSON, one answer of 0.5 KB');
      printTable(HEADINGS, rows);
    }
    say(`\nCalls that the gateway scheduled and completed: ${await completed(proxies)}`);
  } finally {
    await stage.close();
  }
}

/** Requests until V8 has compiled the code on their path; on a loaded machine this takes long. */
const WARM_REQUESTS = 10_000;
const WARM_SECONDS_MAX = 30;

export async function warmUp(stage: Stage, { url }: Proxy): Promise<void> {
  const job = { type: 'throughput', url, bytes: BODIES[0] ?? KB, connections: 32, seconds: 1 } as const;
  let requests = 0;
  for (let second = 0; second < WARM_SECONDS_MAX && requests < WARM_REQUESTS; second += 2) {
    for (const stream of [false, true]) requests += (await stage.throughput({ ...job, stream })).requests;
  }
}

async function measure(stage: Stage, proxies: readonly Proxy[], cell: Cell, quick: boolean) {
  // A thousand large bodies are all read before the first answer: these cells take long, so they get one round.
  const many = cell.connections > 100;
  const large = many && cell.bytes > 2 * KB;
  const rounds = large || quick ? 1 : 3;
  // A thousand streams at once take seconds: in a shorter round none would end.
  const seconds = quick ? 0.5 : large ? (5 * cell.bytes) / (64 * KB) : many ? 5 : 1;
  const samples = new Map<TargetName, Sample[]>(TARGETS.map((name) => [name, []]));
  // The first round only warms up: each path of each proxy has been compiled after it.
  for (let round = large ? 1 : 0; round <= rounds; round += 1) {
    for (const proxy of proxies) {
      const cpuBefore = proxy.cpuMs() ?? NaN;
      const startedAt = performance.now();
      const result = await stage.throughput({ type: 'throughput', url: proxy.url, ...cell, seconds });
      const cpuMs = (proxy.cpuMs() ?? NaN) - cpuBefore;
      if (result.bad > 0) throw new Error(`${proxy.name}: ${result.bad} bad answers with ${JSON.stringify(cell)}`);
      if (round === 0) continue;
      samples.get(proxy.name)?.push({
        perSecond: result.requests / result.seconds,
        cpuMicros: (cpuMs * 1000) / result.requests,
        busy: cpuMs / (performance.now() - startedAt),
      });
    }
  }
  return samples;
}

const HEADINGS = [
  'body, connections',
  'direct/s',
  'http-proxy/s',
  'pass-through/s',
  'maitred/s',
  'of http-proxy',
  'of pass-through',
  'CPU µs: http-proxy',
  'pass-through',
  'maitred',
  'of http-proxy',
];

function rowOf(cell: Cell, samples: ReadonlyMap<TargetName, readonly Sample[]>): string[] {
  const of = (name: TargetName) => samples.get(name) ?? [];
  const rate = (name: TargetName) => {
    const idle = median(of(name).map((sample) => sample.busy)) < BUSY_MIN ? '~' : '';
    return idle + show(median(of(name).map((sample) => sample.perSecond)));
  };
  const cpu = (name: TargetName) => show(median(of(name).map((sample) => sample.cpuMicros)));
  const against = (key: 'perSecond' | 'cpuMicros', base: TargetName) => {
    const rounds = of('maitred').map((sample, round) => sample[key] / (of(base)[round]?.[key] ?? NaN));
    return ratio(median(rounds));
  };
  return [
    `${cell.bytes / KB} KB, ${cell.connections}`,
    rate('direct'),
    rate('http-proxy'),
    rate('pass-through'),
    rate('maitred'),
    against('perSecond', 'http-proxy'),
    against('perSecond', 'pass-through'),
    cpu('http-proxy'),
    cpu('pass-through'),
    cpu('maitred'),
    against('cpuMicros', 'http-proxy'),
  ];
}

/** Checks by the gateway's own counters that the calls were scheduled, and not passed through. */
async function completed(proxies: readonly Proxy[]): Promise<string> {
  const url = proxies.find((proxy) => proxy.name === 'maitred')?.url ?? '';
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return show(Number(/^maitred_calls_ended_total\{outcome="completed"\} (\d+)/m.exec(metrics)?.[1]));
}
