import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { percentile } from '../numbers.js';
import { AGENT_HEADER, Agent, chatBody } from './agent.js';
import { HEADERS, PATH } from './bodies.js';

/** The process that makes the load: takes one job at a time, answers with its result. */
export type Job = ThroughputJob | PacedJob | HoldJob;

interface Target {
  readonly url: string;
  readonly bytes: number;
  readonly stream: boolean;
}

/** As many requests as possible on these connections, each with one request at a time. */
export interface ThroughputJob extends Target {
  readonly type: 'throughput';
  readonly connections: number;
  readonly seconds: number;
  /** One body again and again, the worst case; otherwise agents' bodies, which grow. */
  readonly repeated: boolean;
}
/** Requests at fixed times, whether or not earlier ones have been answered. */
export interface PacedJob extends Target {
  readonly type: 'paced';
  readonly perSecond: number;
  readonly seconds: number;
  /** Further URLs, which take turns with the first. */
  readonly others?: readonly string[];
  /** Number of programs that take turns, each with an id; absent: requests without an id. */
  readonly programs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}
/** Opens streams and keeps them open until the next job. Answers when each has sent its first bytes. */
export interface HoldJob extends Target {
  readonly type: 'hold';
  readonly streams: number;
  readonly gapMs: number;
}

/** Agents by target and size, who go on from round to round. */
const agents = new Map<string, Agent[]>();

function agentsOf({ url, bytes, stream, connections }: ThroughputJob): readonly Agent[] {
  const key = `${url} ${bytes} ${stream}`;
  const known = agents.get(key) ?? [];
  agents.set(key, known);
  while (known.length < connections) known.push(new Agent(bytes, stream, (known.length % 32) / 32));
  return known;
}

export type Throughput = Readonly<Awaited<ReturnType<typeof measureThroughput>>>;
export type Latency = Readonly<Awaited<ReturnType<typeof measureLatency>>>;

async function measureThroughput(job: ThroughputJob) {
  const pool = new Pool(job.url, { connections: job.connections, headersTimeout: 0, bodyTimeout: 0 });
  const body = chatBody(job.bytes, job.stream);
  const players = job.repeated ? [] : agentsOf(job);
  const headers = job.repeated ? HEADERS : { ...HEADERS, [AGENT_HEADER]: '1' };
  const startedAt = performance.now();
  const until = startedAt + job.seconds * 1000;
  let requests = 0;
  /** Answers that were not 200, and requests without an answer. */
  let bad = 0;
  const play = async (index: number): Promise<void> => {
    while (performance.now() < until) {
      const agent = players[index];
      const answer = await ask(pool, headers, agent?.request() ?? body, agent !== undefined);
      if (answer === undefined) bad += 1;
      else {
        requests += 1;
        agent?.answered(answer.text);
      }
    }
  };
  await Promise.all(Array.from({ length: job.connections }, (_, index) => play(index)));
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  return { requests, seconds, bad };
}

/** An answer: its text, '' unless it is wanted, and when its first byte came. Undefined: it was not 200, or there was none. */
type Answer = { readonly text: string; readonly firstAt: number } | undefined;

function ask(pool: Pool, headers: Record<string, string>, body: Buffer, wanted: boolean): Promise<Answer> {
  return new Promise((resolve) => {
    let status = 0;
    let text = '';
    let firstAt = 0;
    pool.dispatch(
      { method: 'POST', path: PATH, headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart(_, code) {
          status = code;
        },
        onResponseData(_, chunk) {
          firstAt ||= performance.now();
          if (wanted) text += chunk.toString('latin1');
        },
        onResponseEnd: () => resolve(status === 200 ? { text, firstAt } : undefined),
        onResponseError: () => resolve(undefined),
      },
    );
  });
}

async function measureLatency(job: PacedJob) {
  const pools = [job.url, ...(job.others ?? [])].map((url) => new Pool(url));
  const body = chatBody(job.bytes, job.stream);
  const first: number[] = [];
  const whole: number[] = [];
  let bad = 0;
  const send = async (index: number): Promise<void> => {
    const program = job.programs === undefined ? {} : { 'x-maitred-program': `p${index % job.programs}` };
    const sentAt = performance.now();
    const answer = await ask(pools[index % pools.length]!, { ...HEADERS, ...job.headers, ...program }, body, false);
    if (answer === undefined) bad += 1;
    else {
      first.push(answer.firstAt - sentAt);
      whole.push(performance.now() - sentAt);
    }
  };
  const open: Promise<void>[] = [];
  const startAt = performance.now();
  const total = job.perSecond * job.seconds;
  while (open.length < total) {
    const due = Math.min(total, ((performance.now() - startAt) / 1000) * job.perSecond);
    while (open.length < due) open.push(send(open.length));
    await sleep(1);
  }
  await Promise.all(open);
  await Promise.all(pools.map((pool) => pool.close()));
  return {
    /** Milliseconds since a request was handed to the client library, to the first byte of the answer's body. */
    firstP50: percentile(first, 0.5),
    firstP99: percentile(first, 0.99),
    /** To the end of the answer. */
    wholeP50: percentile(whole, 0.5),
    wholeP99: percentile(whole, 0.99),
    requests: whole.length,
    bad,
  };
}

let held: Pool | undefined;

/** Opened a few at a time, as a listener's backlog is short. */
const HOLD_STRIDE = 100;

async function hold(job: HoldJob): Promise<{ open: number }> {
  held = new Pool(job.url, { headersTimeout: 0, bodyTimeout: 0 });
  const body = chatBody(job.bytes, true);
  const headers = { ...HEADERS, 'x-gap-ms': String(job.gapMs) };
  let open = 0;
  const openOne = async (pool: Pool) => {
    const answer = await pool.request({ method: 'POST', path: PATH, headers, body });
    answer.body.on('error', () => undefined).on('data', () => undefined);
    await once(answer.body, 'data');
    open += 1;
  };
  for (let left = job.streams; left > 0; left -= HOLD_STRIDE)
    await Promise.all(Array.from({ length: Math.min(left, HOLD_STRIDE) }, () => openOne(held as Pool)));
  return { open };
}

async function run(job: Job): Promise<unknown> {
  await held?.destroy();
  held = undefined;
  switch (job.type) {
    case 'throughput':
      return measureThroughput(job);
    case 'paced':
      return measureLatency(job);
    case 'hold':
      return hold(job);
  }
}

process.on('message', (job: Job) => {
  void run(job).then((result) => process.send?.(result));
});
process.once('disconnect', () => process.exit());
process.send?.('ready');
