import { setTimeout as sleep } from 'node:timers/promises';
import { median, printTable, say, show } from '../numbers.js';
import { costOf } from './rounds.js';
import { Stage, type Proxy } from './stage.js';

const KB = 1024;
const FULL = { streams: 5000, seconds: 10 };
const QUICK = { streams: 250, seconds: 2 };
const BODY_BYTES = 2 * KB;
const GAP_MS = 1000;

export async function benchStreams(quick: boolean): Promise<void> {
  const { streams, seconds } = quick ? QUICK : FULL;
  say(`${streams} streams open at once, a chunk of each every ${GAP_MS} ms. Resident memory of the proxy's process: idle (after a
hundred streams that have ended), and the median of ${seconds} seconds while all are open. http-proxy opens 128 connections by
default and could not hold them.\n`);
  const rows: string[][] = [];
  for (const name of ['maitred', 'pass-through'] as const) {
    await Stage.with(async (stage) => {
      const proxy = await stage.start(name);
      await hold(stage, proxy, 100);
      await stage.throughput({
        type: 'throughput',
        url: proxy.url,
        bytes: BODY_BYTES,
        stream: true,
        connections: 10,
        seconds: 1,
        repeated: true,
      });
      await sleep(1000);
      const before = proxy.rssBytes() ?? NaN;
      const { cpuMs: opened } = await costOf(proxy, () => hold(stage, proxy, streams));
      const { result, cpuMs: kept } = await costOf(proxy, () => watch(proxy, seconds));
      const during = median(result);
      rows.push([
        name,
        show(before / KB / KB),
        show(during / KB / KB),
        show((during - before) / streams / KB),
        show((opened * 1000) / streams),
        show((kept * GAP_MS) / seconds / streams),
      ]);
    });
  }
  printTable(['through', 'idle MB', 'open MB', 'KB a stream', 'CPU µs to open one', 'CPU µs a chunk'], rows);
}

async function hold(stage: Stage, { url, name }: Proxy, streams: number): Promise<void> {
  const { open } = await stage.hold({ type: 'hold', url, bytes: BODY_BYTES, stream: true, streams, gapMs: GAP_MS });
  if (open !== streams) throw new Error(`${name} opened ${open} of ${streams} streams`);
}

async function watch(proxy: Proxy, seconds: number): Promise<number[]> {
  const seen: number[] = [];
  for (let second = 0; second < seconds; second += 1) {
    await sleep(1000);
    seen.push(proxy.rssBytes() ?? NaN);
  }
  return seen;
}
