import { printTable, say, show } from '../numbers.js';
import { Comparison, costOfRequests, inRounds } from './rounds.js';
import { CONDITIONS, Stage, type Proxy } from './stage.js';

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
  await Stage.with(async (stage) => {
    const proxies = await stage.startAll();
    const rows: string[][] = [];
    for (const one of quick ? CASES.filter(({ bytes }) => bytes === 2 * KB) : CASES) {
      const compared = await measure(stage, proxies, one, quick);
      for (const { name } of proxies)
        rows.push([
          one.label,
          name,
          ...KEYS.map((key) => show(compared.middle(name, key))),
          ...KEYS.map((key) => (name === 'direct' ? '' : compared.added(name, key, 'direct'))),
          show(compared.middle(name, 'cpuMicros')),
        ]);
    }
    printTable(['case', 'through', 'first p50', 'first p99', 'whole p50', 'whole p99', ...ADDED, 'CPU µs'], rows);
  });
}

async function measure(
  stage: Stage,
  proxies: readonly Proxy[],
  { bytes, stream }: (typeof CASES)[number],
  quick: boolean,
) {
  const seconds = quick ? 0.5 : 2;
  const samples = await inRounds(proxies, { warm: 1, rounds: quick ? 1 : 3 }, (proxy) => {
    const job = { type: 'paced', url: proxy.url, bytes, stream, perSecond: PER_SECOND, seconds } as const;
    return costOfRequests(proxy, () => stage.latency(job));
  });
  return new Comparison(samples);
}

const KEYS = ['firstP50', 'firstP99', 'wholeP50', 'wholeP99'] as const;
const ADDED = ['added first p50', 'p99', 'added whole p50', 'p99'];
