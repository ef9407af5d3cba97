import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Pool } from 'undici';
import { exchange, type Answer } from '../../../bench/soak/exchange.js';
import { start, type Child } from '../../../processes/process.js';

const PATH = '/v1/chat/completions';
const SILENCE_MS_MAX = 30_000;
/** Of calls that only keep others waiting: half a minute at the engines' pace. */
const LONG_TOKENS = 1500;

/** A streaming call whose whole answer is known beforehand: any engine gives this text, and no other call's has it. */
export class Ask {
  readonly id = randomUUID();
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;

  /** @param words of its answer; absent: it is long, and only keeps others waiting */
  constructor(words?: number) {
    this.text = Array.from({ length: words ?? 0 }, (_, index) => `${this.id.slice(0, 4)}${index}`).join(' ');
    const reply = Buffer.from(JSON.stringify({ content: this.text })).toString('base64');
    this.headers = {
      'content-type': 'application/json',
      'x-request-id': this.id,
      ...(words !== undefined && { 'x-sim-reply': reply }),
    };
    const length = words === undefined ? { max_tokens: LONG_TOKENS, ignore_eos: true } : {};
    const messages = [{ role: 'user', content: `Task ${this.id}` }];
    this.body = JSON.stringify({ model: 'kill', stream: true, messages, ...length });
  }
}

/** Calls under way. */
export interface Calls {
  /** Events that have come, of each. */
  readonly events: readonly number[];
  /** How each looked; none of those whose client was killed. */
  readonly answers: readonly Promise<Answer>[];
  /** Their client goes away, or is killed where it has a process of its own. */
  leave(): Promise<void>;
}

export type Make = (url: string, asks: readonly Ask[]) => Calls;

/** Makes calls from this process. */
export const makeFrom =
  (pool: Pool, headers: Readonly<Record<string, string>> = {}): Make =>
  (_, asks) => {
    const leaving = new AbortController();
    const events = asks.map(() => 0);
    const answers = asks.map((ask, index) =>
      exchange(
        pool,
        { path: PATH, headers: { ...ask.headers, ...headers }, body: ask.body },
        { silenceMsMax: SILENCE_MS_MAX, leave: leaving.signal, seen: (seen) => void (events[index] = seen) },
      ),
    );
    return {
      answers,
      events,
      async leave() {
        leaving.abort();
        await Promise.all(answers);
      },
    };
  };

const SCRIPT = fileURLToPath(new URL('client.mjs', import.meta.url));

/** Makes calls from a process of its own. */
export const makeApart: Make = (url, asks) => {
  const calls = asks.map(({ headers, body }) => ({ headers, body }));
  const child: Child = start(process.execPath, [SCRIPT, JSON.stringify({ url, calls })]);
  const events = asks.map(() => 0);
  child.stdout.on('data', (numbers: Buffer) => {
    for (const index of numbers.toString()) events[Number(index)]! += 1;
  });
  return { answers: [], events, leave: child.stop };
};
