import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import {
  ask,
  chat,
  completionBody,
  fakeEngine,
  gate,
  MODEL,
  until,
  type FakeEngine,
} from '../../sidecar/gateway/world.js';

/** Calls that an engine takes at once, by the gateways' settings. */
export const WINDOW = 6;

/** For what takes less than a second on a machine without other work. */
export const PATIENCE_MS = 60_000;

/** An engine, and the calls that it runs at once. */
export interface Counted {
  readonly engine: FakeEngine;
  running: number;
  most: number;
  /** Until then it answers no call. */
  held: Promise<void>;
}

/** Two engines that take a while for each call: as long as its text asks for with "takes N ms". */
export function startEngines(tookMs = 20): Promise<Counted[]> {
  return Promise.all(
    [0, 1].map(async () => {
      const engine = await fakeEngine(async (response, { body, abandoned }) => {
        counted.running += 1;
        counted.most = Math.max(counted.most, counted.running);
        const text = body.toString();
        const asked = /takes (\d+) ms/.exec(text)?.[1];
        await Promise.race([abandoned, counted.held.then(() => sleep(asked === undefined ? tookMs : Number(asked)))]);
        counted.running -= 1;
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(answerTo(text)));
      });
      const counted: Counted = { engine, running: 0, most: 0, held: Promise.resolve() };
      return counted;
    }),
  );
}

/** Each question has an answer of its own, which is long enough to name its program, or passes on the task that the question ends with. */
function answerTo(body: string): object {
  const hash = createHash('sha256').update(body).digest('hex');
  const task = /Pass on: ([^"]+)"}\]/.exec(body)?.[1];
  const passing = { name: 'ask', arguments: JSON.stringify({ task }) };
  const message = {
    role: 'assistant',
    content: `The answer is ${hash}.`,
    ...(task !== undefined && { tool_calls: [{ id: `call_${hash}`, type: 'function', function: passing }] }),
  };
  if (body.includes('"messages"')) return completionBody({ choices: [{ index: 0, message, finish_reason: 'stop' }] });
  const content = [{ type: 'output_text', text: message.content }];
  const output = [{ type: 'message', role: 'assistant', content }];
  const usage = { input_tokens: 7, output_tokens: 3 };
  return { id: `resp_${hash.slice(0, 8)}`, object: 'response', status: 'completed', model: MODEL, output, usage };
}

/** Sends far more calls than the engines take at once. Together the gateways must fill the windows, and not exceed them. */
export async function fill(engines: readonly Counted[], urls: readonly string[]): Promise<void> {
  const { opened: held, open } = gate();
  for (const counted of engines) Object.assign(counted, { held, most: 0 });
  // Most calls come to one gateway, which gets the slots that the others do not need.
  const calls = Array.from({ length: 60 }, (_, i) => chat(urls[i < 50 ? 0 : 1] ?? urls[0]!, question(`fill ${i}`)));
  // A failure leaves no call behind.
  await until(() => engines.every(({ most }) => most >= WINDOW), PATIENCE_MS).finally(open);
  expect((await Promise.all(calls)).filter(({ status }) => status !== 200)).toEqual([]);
  expect(engines.map(({ most }) => most)).toEqual([WINDOW, WINDOW]);
}

export const question = (text: string) => ({ messages: [{ role: 'user', content: text }] });

export const configOf = (engines: readonly Counted[], url: string, gateway: string, leaseMs: number, more = {}) => ({
  engines: engines.map(({ engine }) => ({ url: engine.url, kind: 'openai', window: WINDOW })),
  admission: { batching: 'none', gate: 0 },
  // A busy machine makes no operation late.
  cluster: { url, gateway, limitMs: 300, heartbeatMs: 100, leaseMs, ...more },
});

export interface ClusterRow {
  readonly standing: string;
  readonly standing_seconds: number;
  readonly live: number;
  readonly failures: number;
}

export const clusterOf = async (url: string): Promise<ClusterRow> =>
  (await ask(`${url}/gateway`)).json()['cluster'] as ClusterRow;

/** Waits until these gateways have no more calls in flight than the windows together. */
export const withinWindows = (urls: readonly string[]): Promise<void> =>
  until(async () => {
    const answers = await Promise.all(urls.map((url) => ask(`${url}/engines`)));
    const each = answers.map((answer) => answer.json()['engines'] as readonly { readonly window: number }[]);
    return each[0]!.every((_, at) => each.reduce((sum, engines) => sum + engines[at]!.window, 0) <= WINDOW);
  }, PATIENCE_MS);
