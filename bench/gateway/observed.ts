import { printTable, say, show } from '../numbers.js';
import { Comparison, costOf } from './rounds.js';
import { CONDITIONS, Stage, type Proxy } from './stage.js';
import { warmUp } from './throughput.js';
import { benchWatching } from './watching.js';

const CELLS = [
  { label: 'JSON, 2 KB', stream: false },
  { label: 'SSE of 32 events, 2 KB', stream: true },
];
const BYTES = 2048;
const CONNECTIONS = 32;
const SCRAPE_MS = 1000;

const KEYS = ['perSecond', 'cpuMicros'] as const;
type Sample = Readonly<Record<(typeof KEYS)[number], number>>;

/** The page's own request at its first look (`/ui`). */
const PAGE = '/stream?offset=0&limit=60';

/** Begins to watch a gateway; the result ends it. */
type Watch = (url: string) => () => void;

interface Observed {
  readonly name: string;
  readonly proxy: Proxy;
  readonly watch: Watch;
}

/** Price of being watched: gateways that are scraped, looked at or traced against one that is not, in interleaved rounds. */
export async function benchObserved(quick: boolean): Promise<void> {
  say(`${CONDITIONS}
Plain: tracing off, nothing scrapes. Again: a second one of these, which shows the noise. Scraped: /metrics is read every
second. Page: one page is open, whose stream is read. Traced: scraped, and every call and program is traced, to a
collector on the load's core. ${CONNECTIONS} connections, as many requests as possible. Each round begins with the next gateway;
ratios are medians of the rounds' ratios to plain.\n`);
  const stage = new Stage();
  await stage.open();
  try {
    const url = await stage.startCollector();
    await benchWatching(url, quick);
    say('');
    const gateways: Observed[] = [
      { name: 'plain', watch: nobody, proxy: await stage.startGateway() },
      { name: 'again', watch: nobody, proxy: await stage.startGateway() },
      { name: 'scraped', watch: scrape, proxy: await stage.startGateway() },
      { name: 'page', watch: readPage, proxy: await stage.startGateway() },
      { name: 'traced', watch: scrape, proxy: await stage.startGateway({ tracing: { otlp: { url } } }) },
    ];
    if (!quick) for (const { proxy } of gateways) await warmUp(stage, proxy);
    const rows: string[][] = [];
    for (const { label, stream } of CELLS) {
      const compared = new Comparison(await measure(stage, gateways, stream, quick));
      for (const { name } of gateways)
        rows.push([
          label,
          name,
          ...KEYS.flatMap((key) => [show(compared.middle(name, key)), compared.ratio(name, key, 'plain')]),
        ]);
    }
    printTable(['calls', 'gateway', 'calls/s', 'of plain', 'CPU µs', 'of plain'], rows);
    say(`\nSpans: ${await spansOf(gateways.at(-1)?.proxy.url ?? '')}`);
  } finally {
    await stage.close();
  }
}

async function measure(stage: Stage, gateways: readonly Observed[], stream: boolean, quick: boolean) {
  const samples = new Map<string, Sample[]>(gateways.map(({ name }) => [name, []]));
  // The first round of a quick run only warms up, in place of `warmUp`.
  for (let round = quick ? -1 : 0; round < (quick ? 1 : 11); round += 1) {
    const first = round % gateways.length;
    for (const gateway of [...gateways.slice(first), ...gateways.slice(0, first)]) {
      const sample = await run(stage, gateway, stream, quick ? 0.5 : 2);
      if (round >= 0) samples.get(gateway.name)?.push(sample);
    }
  }
  return samples;
}

async function run(stage: Stage, { proxy, watch }: Observed, stream: boolean, seconds: number): Promise<Sample> {
  const { url } = proxy;
  const stop = watch(url);
  const job = { type: 'throughput', url, bytes: BYTES, connections: CONNECTIONS, seconds, stream } as const;
  const { result, cpuMs } = await costOf(proxy, () => stage.throughput(job));
  stop();
  if (result.bad > 0) throw new Error(`${result.bad} bad answers`);
  return { perSecond: result.requests / result.seconds, cpuMicros: (cpuMs * 1000) / result.requests };
}

const nobody: Watch = () => () => undefined;

const scrape: Watch = (url) => {
  const timer = setInterval(() => void fetch(`${url}/metrics`).then((answer) => answer.text()), SCRAPE_MS);
  return () => clearInterval(timer);
};

const readPage: Watch = (url) => {
  const end = new AbortController();
  fetch(`${url}${PAGE}`, { signal: end.signal })
    .then(({ body }) => body?.pipeTo(new WritableStream()))
    .catch((error: unknown) => {
      if (!end.signal.aborted) throw error;
    });
  return () => end.abort();
};

/** What became of the spans, by the gateway's own counters. */
async function spansOf(url: string): Promise<string> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return [...text.matchAll(/maitred_trace_spans_total\{result="(\w+)"\} (\d+)/g)]
    .map(([, result, spans]) => `${spans} ${result}`)
    .join(', ');
}
