import { Stage, CONDITIONS, type Proxy } from '../gateway/stage.js';
import { Comparison, costOfRequests, inRounds } from '../gateway/rounds.js';
import { printTable, say, show } from '../numbers.js';
import { noRedis, RedisServer } from '../../processes/redis.js';

const IN_FLIGHT = 32;
const DELAY_MS = 64;
const PER_SECOND = (IN_FLIGHT * 1000) / DELAY_MS;
/** An odd number, so that each program alternates between two gateways. */
const PROGRAMS = 33;
const KEYS = ['wholeP50', 'wholeP99', 'cpuMicros'] as const;

interface Case {
  readonly name: 'off' | 'own' | 'moved';
  readonly gateways: readonly Proxy[];
}

export async function benchCluster(quick: boolean): Promise<void> {
  if (noRedis !== undefined) return say(`${noRedis}: skipped.`);
  const server = await RedisServer.start();
  say(`${CONDITIONS}
${PER_SECOND} calls a second at fixed times (open loop), each ${DELAY_MS} ms on the engine: ${IN_FLIGHT} in flight. ${PROGRAMS} programs in turns.
"own": the gateway had the program's last call. "moved": two gateways on the one core, each call at the other one than the last.
Added: less the gateway without a cluster in the same round. Medians of interleaved rounds.\n`);
  try {
    await Stage.with(async (stage) => {
      const off = await stage.startGateway();
      const cluster = { url: server.path, gateways: 2 };
      const [a, b] = [await stage.startGateway({ cluster }), await stage.startGateway({ cluster })];
      const cases: Case[] = [
        { name: 'off', gateways: [off] },
        { name: 'own', gateways: [a] },
        { name: 'moved', gateways: [a, b] },
      ];
      const compared = await measure(stage, cases, quick);
      const rows = cases.map(({ name }) => [
        name,
        ...KEYS.map((key) => show(compared.middle(name, key))),
        ...(name === 'off'
          ? []
          : [
              ...(['wholeP50', 'wholeP99'] as const).map((key) => compared.added(name, key, 'off')),
              compared.ratio(name, 'cpuMicros', 'off'),
            ]),
      ]);
      printTable(['program', 'p50 ms', 'p99 ms', 'CPU µs', 'added p50', 'added p99', 'CPU ratio'], rows);
    });
  } finally {
    await server.stop();
  }
}

async function measure(stage: Stage, cases: readonly Case[], quick: boolean) {
  const load = { type: 'paced', bytes: 2048, stream: false, perSecond: PER_SECOND, programs: PROGRAMS } as const;
  const headers = { 'x-delay-ms': `${DELAY_MS}` };
  const samples = await inRounds(cases, { warm: 1, rounds: quick ? 1 : 5 }, ({ name, gateways }) => {
    const [url = '', ...others] = gateways.map((gateway) => gateway.url);
    const all = { name, cpuMs: () => gateways.reduce((sum, gateway) => sum + (gateway.cpuMs() ?? NaN), 0) };
    const job = { ...load, url, others, headers, seconds: quick ? 1 : 2 };
    return costOfRequests(all, () => stage.latency(job));
  });
  return new Comparison<Case['name'], (typeof KEYS)[number]>(samples);
}
