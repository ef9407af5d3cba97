import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { percentile, printTable, say, show } from '../numbers.js';
import { chatBody } from './agent.js';
import { HEADERS, MODEL, PATH } from './bodies.js';
import { Stage, type Proxy } from './stage.js';

const MB = 1024 * 1024;
const BYTES = 31 * MB;
const STREAMS = 50;
const GAP_MS = 20;

const withField = (text: string): Buffer =>
  Buffer.from(`{"model":"${MODEL}","stream":false,${text},"messages":[{"role":"user","content":"x"}]}`);
const filled = (item: (index: number) => string, bytes: number): string => {
  const items: string[] = [];
  for (let length = 0; length < bytes; length += (items.at(-1) ?? '').length + 1) items.push(item(items.length));
  return items.join();
};
const withMessages = (text: (index: number) => string): Buffer =>
  Buffer.from(
    `{"model":"${MODEL}","stream":false,"messages":[${filled((i) => `{"role":"user","content":"${text(i)}"}`, BYTES)}]}`,
  );

/** Bodies of hostile clients, and finally of honest ones. */
const BODIES: Readonly<Record<string, () => Buffer>> = {
  none: () => Buffer.alloc(0),
  'one string': () => withField(`"x":"${'a'.repeat(BYTES)}"`),
  'one string, no Latin': () => withField(`"x":"${'я'.repeat(BYTES / 2)}"`),
  'nested arrays': () => withField(`"x":${'['.repeat(BYTES / 2)}${']'.repeat(BYTES / 2)}`),
  'flat arrays': () => withField(`"x":[${filled(() => '[]', BYTES)}]`),
  '2 M keys': () => withField(filled((i) => `"k${i}":1`, 26_000_000)),
  numbers: () => withField(`"x":[${filled((i) => String(i % 100_000), BYTES)}]`),
  'tiny messages': () => withMessages(() => 'x'),
  '200 k keys': () => withField(`"x":{${filled((i) => `"k${i}":1`, 2_200_000)}}`),
  'long messages': () => withMessages((i) => `${i}${'word '.repeat(6000)}`),
  'agent, 512 KB': () => chatBody(MB / 2, false),
  'agent, 4 MB': () => chatBody(4 * MB, false),
};

/** Those of a quick run: one that is slow to check, and an honest one. */
const QUICK = ['numbers', 'agent, 4 MB'];

/** Time for which streams stall while one client sends large bodies, one after another. */
export async function benchLargeBodies(quick: boolean): Promise<void> {
  const seconds = quick ? 1 : 3;
  say(`${STREAMS} streams with an event each ${GAP_MS} ms, while one client sends bodies of 31 MB without a pause for ${seconds} s (at least
one). Time between two events of a stream at its client, in milliseconds; then of the gateway, pinned to one core with
all its threads: CPU of one such body, and its most memory.\n`);
  const rows: string[][] = [];
  for (const [name, make] of Object.entries(BODIES)) {
    if (quick && !QUICK.includes(name)) continue;
    await Stage.with(async (stage) => {
      rows.push(await rowOf(name, make(), await stage.start('maitred'), seconds));
    });
  }
  printTable(['body', 'answer', 'sent', 'gap p50', 'p99', 'longest', 'answered in', 'CPU ms', 'most MB'], rows);
}

async function rowOf(name: string, body: Buffer, proxy: Proxy, seconds: number): Promise<string[]> {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const gaps = await openStreams(proxy.url, agent);
  await sleep(1000);
  gaps.length = 0;
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, proxy.rssBytes() ?? 0)), 50);
  const cpuBefore = proxy.cpuMs() ?? NaN;
  const startedAt = performance.now();
  let sent = 0;
  let status = 0;
  if (body.length === 0) await sleep(seconds * 1000);
  else {
    do {
      const answer = await request(proxy.url + PATH, { method: 'POST', dispatcher: agent, headers: HEADERS, body });
      await answer.body.dump();
      status = answer.statusCode;
      sent += 1;
    } while (performance.now() - startedAt < seconds * 1000);
  }
  const elapsedMs = performance.now() - startedAt;
  // Waits, because a stall shows in the next gap.
  await sleep(200);
  clearInterval(watch);
  const cpuMs = ((proxy.cpuMs() ?? NaN) - cpuBefore) / sent;
  await agent.destroy();
  return [
    name,
    status === 0 ? '' : String(status),
    String(sent),
    ...[0.5, 0.99, 1].map((p) => show(percentile(gaps, p))),
    sent === 0 ? '' : show(elapsedMs / sent),
    sent === 0 ? '' : show(cpuMs),
    show(most / MB),
  ];
}

/** Opens the streams. @returns times between events, in milliseconds, appended from now on */
async function openStreams(url: string, agent: Dispatcher): Promise<number[]> {
  const gaps: number[] = [];
  const headers = { ...HEADERS, 'x-gap-ms': String(GAP_MS) };
  for (let i = 0; i < STREAMS; i += 1) {
    const { body } = await request(url + PATH, {
      method: 'POST',
      dispatcher: agent,
      headers,
      body: chatBody(2048, true),
    });
    let last = performance.now();
    body
      .on('error', () => undefined)
      .on('data', () => {
        const now = performance.now();
        gaps.push(now - last);
        last = now;
      });
    await once(body, 'data');
  }
  return gaps;
}
