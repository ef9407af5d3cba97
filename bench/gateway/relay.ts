import { median, printTable, ratio, say, show } from '../numbers.js';
import { CONDITIONS, Stage, type Proxy, type TargetName } from './stage.js';

const KB = 1024;
/** Streams at once, and milliseconds between two events of each: 20, 50 and 100 tokens a second. */
const CASES = [
  { streams: 200, gapMs: 50 },
  { streams: 500, gapMs: 50 },
  { streams: 200, gapMs: 20 },
  { streams: 200, gapMs: 10 },
  { streams: 500, gapMs: 10 },
];
const PROXIES = ['maitred', 'http-proxy', 'pass-through'] as const;
const CONNECTIONS = 1024;
/** Share of its core below which a proxy keeps up: it relays the full load, and only CPU distinguishes proxies. */
const BUSY_MIN = 0.9;

interface Sample {
  readonly perSecond: number;
  readonly cpuMicros: number;
  /** Share of one core. */
  readonly busy: number;
}

/** Events relayed a second and processor time an event: many streams, each at the pace of a model's tokens. */
export async function benchRelay(quick: boolean): Promise<void> {
  say(`${CONDITIONS}
Long streams, an event of each every so many milliseconds; opening them is not measured. http-proxy may open ${CONNECTIONS}
connections here. CPU is user and system time of all threads of the proxy for one event. A proxy that falls behind gets
several events at one read, so that it relays more with less CPU each, and later. Medians of interleaved rounds; a ratio
is the median of the rounds' ratios. ~ marks proxies that had idle time.\n`);
  const stage = new Stage();
  await stage.open();
  try {
    const proxies: Proxy[] = [];
    for (const name of PROXIES) proxies.push(await stage.start(name, [], CONNECTIONS));
    const rows: string[][] = [];
    for (const one of quick ? CASES.slice(2, 3) : CASES)
      rows.push(rowOf(one, await measure(stage, proxies, one, quick)));
    printTable(HEADINGS, rows);
  } finally {
    await stage.close();
  }
}

async function measure(stage: Stage, proxies: readonly Proxy[], one: (typeof CASES)[number], quick: boolean) {
  const samples = new Map<TargetName, Sample[]>(PROXIES.map((name) => [name, []]));
  // The first round only warms up.
  for (let round = 0; round <= (quick ? 1 : 5); round += 1) {
    for (const proxy of proxies) {
      const { url, name } = proxy;
      const { open } = await stage.hold({ type: 'hold', url, bytes: 2 * KB, stream: true, ...one });
      if (open !== one.streams) throw new Error(`${name} opened ${open} of ${one.streams} streams`);
      const cpuBefore = proxy.cpuMs() ?? NaN;
      const { events, seconds } = await stage.count({ type: 'count', seconds: quick ? 1 : 4 });
      const cpuMs = (proxy.cpuMs() ?? NaN) - cpuBefore;
      if (round === 0) continue;
      samples.get(name)?.push({
        perSecond: events / seconds,
        cpuMicros: (cpuMs * 1000) / events,
        busy: cpuMs / seconds / 1000,
      });
    }
  }
  return samples;
}

const HEADINGS = [
  'streams, offered/s',
  ...PROXIES.map((name) => `${name}/s`),
  'of http-proxy',
  'of pass-through',
  ...PROXIES.map((name, i) => (i === 0 ? `CPU µs: ${name}` : name)),
  'of http-proxy',
];

function rowOf({ streams, gapMs }: (typeof CASES)[number], samples: ReadonlyMap<TargetName, readonly Sample[]>) {
  const of = (name: TargetName) => samples.get(name) ?? [];
  const middle = (name: TargetName, key: keyof Sample) => median(of(name).map((sample) => sample[key]));
  const against = (key: keyof Sample, base: TargetName) =>
    ratio(median(of('maitred').map((sample, round) => sample[key] / (of(base)[round]?.[key] ?? NaN))));
  return [
    `${streams}, ${show((streams * 1000) / gapMs)}`,
    ...PROXIES.map((name) => `${middle(name, 'busy') < BUSY_MIN ? '~' : ''}${show(middle(name, 'perSecond'))}`),
    against('perSecond', 'http-proxy'),
    against('perSecond', 'pass-through'),
    ...PROXIES.map((name) => show(middle(name, 'cpuMicros'))),
    against('cpuMicros', 'http-proxy'),
  ];
}
