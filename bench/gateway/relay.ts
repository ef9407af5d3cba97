import { printTable, say, show } from '../numbers.js';
import { Comparison, costOf, inRounds, rateText } from './rounds.js';
import { CONDITIONS, Stage, type Proxy, type TargetName } from './stage.js';

const KB = 1024;
/** Streams at once, and milliseconds between two events of each: 20 and 100 tokens a second. */
const CASES = [
  { streams: 200, gapMs: 50 },
  { streams: 500, gapMs: 10 },
];
const PROXIES = ['maitred', 'http-proxy', 'pass-through'] as const;
const CONNECTIONS = 1024;

/** Events relayed a second and processor time an event: many streams, each at the pace of a model's tokens. */
export async function benchRelay(quick: boolean): Promise<void> {
  say(`${CONDITIONS}
Long streams, an event of each every so many milliseconds; opening them is not measured. http-proxy may open ${CONNECTIONS}
connections here. CPU is user and system time of all threads of the proxy for one event. A proxy that falls behind gets
several events at one read, so that it relays more with less CPU each, and later. Medians of interleaved rounds; a ratio
is the median of the rounds' ratios. ~ marks proxies that had idle time.\n`);
  await Stage.with(async (stage) => {
    const proxies: Proxy[] = [];
    for (const name of PROXIES) proxies.push(await stage.start(name, CONNECTIONS));
    const rows: string[][] = [];
    for (const one of quick ? CASES.slice(0, 1) : CASES)
      rows.push(rowOf(one, await measure(stage, proxies, one, quick)));
    printTable(HEADINGS, rows);
  });
}

async function measure(stage: Stage, proxies: readonly Proxy[], one: (typeof CASES)[number], quick: boolean) {
  const samples = await inRounds(proxies, { warm: 1, rounds: quick ? 1 : 2 }, async (proxy) => {
    const { url, name } = proxy;
    const { open } = await stage.hold({ type: 'hold', url, bytes: 2 * KB, stream: true, ...one });
    if (open !== one.streams) throw new Error(`${name} opened ${open} of ${one.streams} streams`);
    const { result, cpuMs } = await costOf(proxy, () => stage.count({ type: 'count', seconds: quick ? 1 : 3 }));
    const { events, seconds } = result;
    return { perSecond: events / seconds, cpuMicros: (cpuMs * 1000) / events, busy: cpuMs / seconds / 1000 };
  });
  return new Comparison<TargetName, 'perSecond' | 'cpuMicros' | 'busy'>(samples);
}

const HEADINGS = [
  'streams, offered/s',
  ...PROXIES.map((name) => `${name}/s`),
  'of http-proxy',
  'of pass-through',
  ...PROXIES.map((name, i) => (i === 0 ? `CPU µs: ${name}` : name)),
  'of http-proxy',
];

function rowOf({ streams, gapMs }: (typeof CASES)[number], compared: Awaited<ReturnType<typeof measure>>): string[] {
  return [
    `${streams}, ${show((streams * 1000) / gapMs)}`,
    ...PROXIES.map((name) => rateText(compared, name)),
    compared.ratio('maitred', 'perSecond', 'http-proxy'),
    compared.ratio('maitred', 'perSecond', 'pass-through'),
    ...PROXIES.map((name) => show(compared.middle(name, 'cpuMicros'))),
    compared.ratio('maitred', 'cpuMicros', 'http-proxy'),
  ];
}
