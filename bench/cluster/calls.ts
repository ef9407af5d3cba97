import { Stage, CONDITIONS, type Proxy } from '../gateway/stage.js';
import type { Latency } from '../gateway/load.js';
import { median, printTable, ratio, say, show } from '../numbers.js';
import { startServer } from './server.js';

const IN_FLIGHT = 32;
const DELAY_MS = 64;
const PER_SECOND = (IN_FLIGHT * 1000) / DELAY_MS;
/** An odd number, so that each program alternates between two gateways. */
const PROGRAMS = 33;
const KEYS = ['wholeP50', 'wholeP99', 'cpuMicros'] as const;

interface Case {
  readonly label: string;
  readonly gateways: readonly Proxy[];
}
type Sample = Pick<Latency, 'wholeP50' | 'wholeP99'> & { readonly cpuMicros: number };

/** Latency and processor time that the shared state adds to a call. */
export async function benchCluster(quick: boolean): Promise<void> {
  const server = await startServer();
  if (server === undefined) return say('redis-server is not installed: skipped.');
  say(`${CONDITIONS}
${PER_SECOND} calls a second at fixed times (open loop), each ${DELAY_MS} ms on the engine: ${IN_FLIGHT} in flight. ${PROGRAMS} programs in turns.
"own": the gateway had the program's last call. "moved": two gateways on the one core, each call at the other one than the last.
Added: less the gateway without a cluster in the same round. Medians of interleaved rounds.\n`);
  const stage = new Stage();
  await stage.open();
  try {
    const off = await stage.startGateway();
    const cluster = { url: server.path, gateways: 2 };
    const [a, b] = [await stage.startGateway({ cluster }), await stage.startGateway({ cluster })];
    const cases: Case[] = [
      { label: 'off', gateways: [off] },
      { label: 'own', gateways: [a] },
      { label: 'moved', gateways: [a, b] },
    ];
    const samples = await measure(stage, cases, quick);
    const base = samples.get('off') ?? [];
    const rows = cases.map(({ label }) => rowOf(label, samples.get(label) ?? [], base));
    printTable(['program', 'p50 ms', 'p99 ms', 'CPU µs', 'added p50', 'added p99', 'CPU ratio'], rows);
  } finally {
    await stage.close();
    await server.stop();
  }
}

async function measure(stage: Stage, cases: readonly Case[], quick: boolean): Promise<Map<string, Sample[]>> {
  const samples = new Map<string, Sample[]>(cases.map(({ label }) => [label, []]));
  const load = { type: 'paced', bytes: 2048, stream: false, perSecond: PER_SECOND, programs: PROGRAMS } as const;
  for (let round = 0; round <= (quick ? 1 : 9); round += 1)
    for (const { label, gateways } of cases) {
      const [url = '', ...others] = gateways.map((gateway) => gateway.url);
      const cpuMs = () => gateways.reduce((sum, gateway) => sum + (gateway.cpuMs() ?? NaN), 0);
      const before = cpuMs();
      const headers = { 'x-delay-ms': `${DELAY_MS}` };
      const latency = await stage.latency({ ...load, url, others, headers, seconds: quick ? 1 : 4 });
      if (latency.bad > 0) throw new Error(`${label}: ${latency.bad} bad answers`);
      const { wholeP50, wholeP99, requests } = latency;
      // The first round only warms up.
      if (round > 0)
        samples.get(label)?.push({ wholeP50, wholeP99, cpuMicros: ((cpuMs() - before) * 1000) / requests });
    }
  return samples;
}

function rowOf(label: string, own: readonly Sample[], base: readonly Sample[]): string[] {
  const added = (key: (typeof KEYS)[number]) =>
    show(median(own.map((sample, round) => sample[key] - (base[round]?.[key] ?? NaN))));
  const cpu = ratio(median(own.map(({ cpuMicros }, round) => cpuMicros / (base[round]?.cpuMicros ?? NaN))));
  return [
    label,
    ...KEYS.map((key) => show(median(own.map((sample) => sample[key])))),
    ...(label === 'off' ? ['', '', ''] : [added('wholeP50'), added('wholeP99'), cpu]),
  ];
}
