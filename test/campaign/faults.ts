import type { Dice } from '../../workloads/dice.js';
import { eventsOf, markOf, wholeAnswer, type ApiName } from './answers.js';

/** One thing that an engine does in answering, `ms` after the one before. */
export interface Step {
  readonly ms: number;
  readonly bytes?: string;
  /** `reset` breaks the connection, `close` ends it in good order. */
  readonly act?: 'reset' | 'close';
}

/** What an engine is asked for, as far as its answer depends on it. */
export interface Wish {
  readonly rid: string;
  /** What tells this answer from others. */
  readonly source: string;
  readonly api: ApiName;
  readonly stream: boolean;
  /** A stream of a megabyte, for readers that are slow. */
  readonly large: boolean;
  readonly plain: boolean;
  /** What it tells of the response that the call goes on from. */
  readonly previous: string;
}

/** What the answer of a call is made of; `right` is the right one. */
interface Parts {
  readonly right: Step[];
  readonly head: string;
  /** Steps of the right answer before it goes wrong. */
  readonly cutAt: number;
  readonly thinkMs: number;
  readonly wish: Wish;
  readonly dice: Dice;
}

const NEVER: Step = { ms: 600_000 };
const soon =
  (act: 'reset' | 'close') =>
  (parts: Parts): Step[] => [{ ms: parts.thinkMs, act }];
const midway =
  (act: 'reset' | 'close') =>
  (parts: Parts): Step[] => [...begun(parts), { ms: parts.dice.int(0, 20), act }];
const says =
  (bytes: (wish: Wish) => string) =>
  ({ thinkMs: ms, wish }: Parts): Step[] => [{ ms, bytes: bytes(wish) }];
const refuses =
  (status: number, how = '') =>
  ({ thinkMs: ms, wish, dice }: Parts): Step[] => [{ ms, ...refusal(status, how, wish, dice) }];

/** The ways in which an engine answers a call wrongly, or slowly: the first two are right, and late. */
const FAULTS = {
  slow: ({ right }) => [{ ms: 900 }, ...right],
  dribble: ({ right, dice }) => dribble(right, dice),
  hang: () => [NEVER],
  'hang-after-head': ({ thinkMs, head }) => [{ ms: thinkMs, bytes: head }, NEVER],
  'hang-midway': (parts) => [...begun(parts), NEVER],
  'reset-at-once': soon('reset'),
  'reset-after-head': ({ thinkMs, head, dice }) => [
    { ms: thinkMs, bytes: head },
    { ms: dice.int(0, 20), act: 'reset' },
  ],
  'reset-midway': midway('reset'),
  'close-at-once': soon('close'),
  'close-midway': midway('close'),
  'not-http': says(({ rid }) => `\u0000\u0001 what? ${markOf(rid)}\r\n\r\n`),
  'not-json': says(({ rid }) => withLength(200, 'application/json', `[1, "${markOf(rid)}"`)),
  'too-large': says(() => withLength(200, 'application/json', `{"a":"${'x'.repeat(70_000)}"}`)),
  'whole-instead-of-stream': says(whole),
  'error-event': ({ thinkMs }) => [
    { ms: thinkMs, bytes: streamHead() + chunk('data: {"error":{"message":"broke","code":500}}\n\n') },
    { ms: 1, bytes: '0\r\n\r\n' },
  ],
  'no-last-event': (parts) => [...begun(parts), { ms: 1, bytes: parts.wish.stream ? '0\r\n\r\n' : '', act: 'close' }],
  'status-400': refuses(400),
  'status-404': refuses(404),
  'status-307': refuses(307),
  'status-429': refuses(429),
  'status-500': refuses(500),
  'status-502-html': refuses(502),
  'status-503': refuses(503),
  'status-503-cut': refuses(503, 'cut'),
} satisfies Readonly<Record<string, (parts: Parts) => Step[]>>;
type Fault = keyof typeof FAULTS;
const NAMES = Object.keys(FAULTS) as Fault[];

/** An answer of the engine's own choice: right, or, by `chance`, with a fault. */
export function drawFault(dice: Dice, chance: number): Fault | undefined {
  return dice.share() < chance ? NAMES[dice.int(0, NAMES.length - 1)] : undefined;
}

export function planOf(fault: Fault | undefined, wish: Wish, dice: Dice): Step[] {
  const thinkMs = dice.int(1, 120);
  const right = wish.stream ? streamed(wish, dice, thinkMs) : [{ ms: thinkMs, bytes: whole(wish) }];
  const cutAt = dice.int(1, Math.max(1, right.length - 1));
  const head = wish.stream ? streamHead() : headOf(200, 'application/json', 5_000);
  return fault === undefined ? right : FAULTS[fault]({ right, head, cutAt, thinkMs, wish, dice });
}

function refusal(status: number, how: string, { rid }: Wish, dice: Dice): Omit<Step, 'ms'> {
  const body = JSON.stringify({ error: { message: `refused ${markOf(rid)}`, code: status } });
  const later = dice.share() < 0.5 ? '' : `retry-after: ${dice.int(0, 2)}\r\n`;
  if (status === 502) return { bytes: withLength(502, 'text/html', '<h1>bad gateway</h1>') };
  if (status === 307)
    return { bytes: 'HTTP/1.1 307 Temporary Redirect\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n' };
  const text = withLength(status, 'application/json', body, later);
  return how === 'cut' ? { bytes: text.slice(0, -5), act: 'reset' } : { bytes: text };
}

/** The beginning of an answer. */
function begun({ right, head, cutAt }: Parts): Step[] {
  if (right.length > 1) return right.slice(0, cutAt);
  return [{ ms: right[0]?.ms ?? 1, bytes: `${head}{"id":"c",` }];
}

function streamed(wish: Wish, dice: Dice, thinkMs: number): Step[] {
  const parts = wish.large ? 40 : dice.int(1, 6);
  const events = eventsOf(wish.api, wish.rid, wish.source, parts, wish.large ? 10_000 : 0);
  const gapMs = dice.int(0, wish.large ? 10 : 60);
  return [
    { ms: thinkMs, bytes: streamHead() },
    ...events.map((event) => ({ ms: gapMs, bytes: chunk(event) })),
    { ms: 0, bytes: '0\r\n\r\n' },
  ];
}

/** The same bytes in pieces that end anywhere. */
function dribble(steps: readonly Step[], dice: Dice): Step[] {
  return steps.flatMap(({ ms, bytes = '' }) => {
    const at = dice.int(0, bytes.length);
    return [
      { ms, bytes: bytes.slice(0, at) },
      { ms: dice.int(0, 40), bytes: bytes.slice(at) },
    ].filter(({ bytes: part }) => part !== '');
  });
}

function whole({ api, rid, plain, previous }: Wish): string {
  return withLength(200, 'application/json', wholeAnswer(api, rid, plain, previous));
}

const headOf = (status: number, type: string, length: number, more = ''): string =>
  `HTTP/1.1 ${status} X\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n${more}\r\n`;

export const withLength = (status: number, type: string, body: string, more = ''): string =>
  headOf(status, type, body.length, more) + body;

const streamHead = (): string =>
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
