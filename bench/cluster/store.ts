import { gatewayId, REDIS_DEFAULTS, RedisState } from '../../cluster/index.js';
import { engineId, programId, tenantId, type Millis, type Tokens } from '../../src/index.js';
import { percentile, printTable, say, show } from '../numbers.js';
import { startServer } from './server.js';

const FULL = { gateways: [1, 4, 16], inFlight: [1, 32], count: 20_000 };
const QUICK = { gateways: [1, 4], inFlight: [32], count: 1000 };
const PROGRAMS = 10_000;

/** Cost of the operations on a shared store, which is on this machine. */
export async function benchStore(quick: boolean): Promise<void> {
  const store = await startServer();
  if (store === undefined) return say('redis-server is not installed: skipped.');
  say(`One redis-server on this machine. Time from the call to its answer; CPU of this process, all gateways in it. "claim": of one
engine that so many gateways share, each of which hears of every claim. "take": a program over from another gateway, with its record.\n`);
  const size = quick ? QUICK : FULL;
  const rows: string[][] = [];
  try {
    for (const gateways of size.gateways)
      for (const inFlight of size.inFlight) rows.push(...(await measured(store.path, gateways, inFlight, size.count)));
  } finally {
    await store.stop();
  }
  printTable(['operation', 'gateways', 'in flight', 'a second', 'p50 ms', 'p99 ms', 'late', 'CPU µs'], rows);
}

async function measured(path: string, gateways: number, inFlight: number, count: number): Promise<string[][]> {
  const states = await Promise.all(
    Array.from({ length: gateways }, (_, i) => openState(path, `${gateways}-${inFlight}-${i}`)),
  );
  const tokens = 4000 as Tokens;
  const root = { calls: 1, firstPromptTokens: tokens, contextTokens: tokens };
  const record = { serviceMs: 1 as Millis, calls: 1, home: engineId('e'), contexts: { '': tokens }, root };
  for (let i = 0; i < PROGRAMS; i += 1) states[0]!.put(programId(`t:p${i}`), record);
  await states[0]!.find(tenantId('t'), ['none']);
  const stateOf = (i: number) => states[i % gateways]!;
  const claimOf = (i: number) => ({
    engine: engineId('e'),
    window: 256,
    inFlight: i % 7,
    keeps: 10,
    loadTokens: (i * 100) as Tokens,
    weight: i / 1024,
    steps: [i, i * 100, i * 20, i * 1e4, i * 2000],
    activeTokens: tokens,
    claimTokens: tokens,
    cachedTokens: tokens,
    waiting: [i % 3, 0, i % 5],
  });
  const operations: Readonly<Record<string, (i: number) => Promise<unknown>>> = {
    take: (i) => stateOf(i).take(programId(`t:p${i % PROGRAMS}`)),
    claim: (i) => stateOf(i).claim([claimOf(i)]),
    find: (i) => stateOf(i).find(tenantId('t'), ['a', 'b', 'c', 'd']),
  };
  const rows: string[][] = [];
  for (const [name, operation] of Object.entries(operations)) {
    await repeat(operation, inFlight, count / 10);
    const { times, tookMs, cpuMicros, failures } = await timed(operation, inFlight, count, states);
    const figures = [
      (count / tookMs) * 1000,
      percentile(times, 0.5),
      percentile(times, 0.99),
      failures,
      cpuMicros / count,
    ];
    rows.push([name, `${gateways}`, `${inFlight}`, ...figures.map((figure) => show(figure))]);
  }
  await Promise.all(states.map((state) => state.leave()));
  return rows;
}

async function timed(
  operation: (i: number) => Promise<unknown>,
  inFlight: number,
  count: number,
  states: readonly RedisState[],
): Promise<{ times: Float64Array; tookMs: number; cpuMicros: number; failures: number }> {
  const times = new Float64Array(count);
  const failed = () => states.reduce((sum, { state }) => sum + state.failures, 0);
  const [failedBefore, cpuBefore, startedAt] = [failed(), process.cpuUsage(), performance.now()];
  await repeat(
    async (i) => {
      const askedAt = performance.now();
      await operation(i);
      times[i] = performance.now() - askedAt;
    },
    inFlight,
    count,
  );
  const { user, system } = process.cpuUsage(cpuBefore);
  return { times, tookMs: performance.now() - startedAt, cpuMicros: user + system, failures: failed() - failedBefore };
}

/** Does it so many times, so many at once. */
async function repeat(operation: (i: number) => Promise<unknown>, inFlight: number, count: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await operation(next++);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

/** Late answers are counted, and no reason to go on alone. */
const openState = (path: string, name: string): Promise<RedisState> =>
  RedisState.open(
    { ...REDIS_DEFAULTS, limitMs: 1000, connection: { url: path }, pool: 'bench', gateway: gatewayId(name) },
    { parts: () => undefined, moved: () => undefined, owned: () => [], changed: () => undefined },
  );
