import { median, printTable, say, show } from '../numbers.js';
import type { Latency } from './load.js';
import { CONDITIONS, Stage, TARGETS, type Proxy, type TargetName } from './stage.js';

const KB = 1024;
const PER_SECOND = 500;
const CASES = [
  { label: 'JSON, 2 KB', bytes: 2 * KB, stream: false },
  { label: 'JSON, 64 KB', bytes: 64 * KB, stream: false },
  { label: 'SSE, 2 KB', bytes: 2 * KB, stream: true },
];

/** Latency that a proxy adds to a request, at a rate that loads none of them fully. */
export async function benchLatency(quick: boolean): Promise<void> {
  say(`${CONDITIONS}
${PER_SECOND} requests a second at fixed times, answered or not (open loop). Milliseconds from handing a request to the client
library; "first" is the first byte of the answer's body, a stream's first event; "whole" its last. Added: less the direct
latency of the same round. Medians of interleaved rounds.\n`);
  const stage = new Stage();
  await stage.open();
  try {
    const proxies: Proxy[] = [];
    for (const name of TARGETS) proxies.push(await stage.start(name));
    const rows: string[][] = [];
    for (const one of quick ? CASES.filter(({ bytes }) => bytes === 2 * KB) : CASES) {
      const samples = await measure(stage, proxies, one, quick);
      for (const { name } of proxies) rows.push(rowOf(one.label, name, samples));
    }
    printTable(['case', 'through', 'first p50', 'first p99', 'whole p50', 'whole p99', ...ADDED, 'CPU µs'], rows);
  } finally {
    await stage.close();
  }
}

type Sample = Latency & { readonly cpuMicros: number };
type Samples = ReadonlyMap<TargetName, readonly Sample[]>;

async function measure(stage: Stage, proxies: readonly Proxy[], one: (typeof CASES)[number], quick: boolean) {
  const samples = new Map<TargetName, Sample[]>(TARGETS.map((name) => [name, []]));
  for (let round = 0; round <= (quick ? 1 : 5); round += 1) {
    for (const proxy of proxies) {
      const { url, name } = proxy;
      const cpuBefore = proxy.cpuMs() ?? NaN;
      const { bytes, stream } = one;
      const seconds = quick ? 0.5 : 4;
      const latency = await stage.latency({ type: 'paced', url, bytes, stream, perSecond: PER_SECOND, seconds });
      if (latency.bad > 0) throw new Error(`${name}: ${latency.bad} bad answers`);
      const cpuMicros = (((proxy.cpuMs() ?? NaN) - cpuBefore) * 1000) / latency.requests;
      // The first round only warms up.
      if (round > 0) samples.get(name)?.push({ ...latency, cpuMicros });
    }
  }
  return samples;
}

const KEYS = ['firstP50', 'firstP99', 'wholeP50', 'wholeP99'] as const;
const ADDED = ['added first p50', 'p99', 'added whole p50', 'p99'];

function rowOf(label: string, name: TargetName, samples: Samples): string[] {
  const own = samples.get(name) ?? [];
  const direct = samples.get('direct') ?? [];
  return [
    label,
    name,
    ...KEYS.map((key) => show(median(own.map((sample) => sample[key])))),
    ...KEYS.map((key) =>
      name === 'direct' ? '' : show(median(own.map((sample, round) => sample[key] - (direct[round]?.[key] ?? NaN)))),
    ),
    show(median(own.map((sample) => sample.cpuMicros))),
  ];
}
