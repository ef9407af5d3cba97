import type { Dice } from '../../workloads/dice.js';
import { eventsOf, markOf, wholeAnswer, type ApiName } from './answers.js';

/** One thing that an engine does in answering, `ms` after the one before. */
export interface Step {
  readonly ms: number;
  readonly bytes?: string;
  /** `reset` breaks the connection, `close` ends it in good order. */
  readonly act?: 'reset' | 'close';
}

/** The ways in which an engine answers a call wrongly, or slowly: the first two are right, and late. */
const FAULTS = [
  'slow',
  'dribble',
  'hang',
  'hang-after-head',
  'hang-midway',
  'reset-at-once',
  'reset-after-head',
  'reset-midway',
  'close-at-once',
  'close-midway',
  'not-http',
  'not-json',
  'too-large',
  'whole-instead-of-stream',
  'error-event',
  'no-last-event',
  'status-400',
  'status-404',
  'status-307',
  'status-429',
  'status-500',
  'status-502-html',
  'status-503',
  'status-503-cut',
] as const;
export type Fault = (typeof FAULTS)[number];

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

/** An answer of the engine's own choice: right, or, by `chance`, with a fault. */
export function drawFault(dice: Dice, chance: number): Fault | undefined {
  return dice.share() < chance ? FAULTS[dice.int(0, FAULTS.length - 1)] : undefined;
}

export function planOf(fault: Fault | undefined, wish: Wish, dice: Dice): Step[] {
  const thinkMs = dice.int(1, 120);
  const right = wish.stream ? streamed(wish, dice, thinkMs) : [{ ms: thinkMs, bytes: whole(wish) }];
  const cutAt = dice.int(1, Math.max(1, right.length - 1));
  const head = wish.stream ? streamHead() : headOf(200, 'application/json', 5_000);
  switch (fault) {
    case undefined:
      return right;
    case 'slow':
      return [{ ms: 900 }, ...right];
    case 'dribble':
      return dribble(right, dice);
    case 'hang':
      return [{ ms: 600_000 }];
    case 'hang-after-head':
      return [{ ms: thinkMs, bytes: head }, { ms: 600_000 }];
    case 'hang-midway':
      return [...begun(right, head, cutAt), { ms: 600_000 }];
    case 'reset-at-once':
      return [{ ms: thinkMs, act: 'reset' }];
    case 'reset-after-head':
      return [
        { ms: thinkMs, bytes: head },
        { ms: dice.int(0, 20), act: 'reset' },
      ];
    case 'reset-midway':
      return [...begun(right, head, cutAt), { ms: dice.int(0, 20), act: 'reset' }];
    case 'close-at-once':
      return [{ ms: thinkMs, act: 'close' }];
    case 'close-midway':
      return [...begun(right, head, cutAt), { ms: dice.int(0, 20), act: 'close' }];
    case 'not-http':
      return [{ ms: thinkMs, bytes: `\u0000\u0001 what? ${markOf(wish.rid)}\r\n\r\n` }];
    case 'not-json':
      return [{ ms: thinkMs, bytes: withLength(200, 'application/json', `[1, "${markOf(wish.rid)}"`) }];
    case 'too-large':
      return [{ ms: thinkMs, bytes: withLength(200, 'application/json', `{"a":"${'x'.repeat(70_000)}"}`) }];
    case 'whole-instead-of-stream':
      return [{ ms: thinkMs, bytes: whole(wish) }];
    case 'error-event':
      return [
        { ms: thinkMs, bytes: streamHead() + chunk('data: {"error":{"message":"broke","code":500}}\n\n') },
        { ms: 1, bytes: '0\r\n\r\n' },
      ];
    case 'no-last-event':
      return [...begun(right, head, cutAt), { ms: 1, bytes: wish.stream ? '0\r\n\r\n' : '', act: 'close' }];
    case 'status-307':
    case 'status-400':
    case 'status-404':
    case 'status-429':
    case 'status-500':
    case 'status-502-html':
    case 'status-503':
    case 'status-503-cut':
      return [{ ms: thinkMs, ...refusal(fault, wish, dice) }];
  }
}

function refusal(fault: Extract<Fault, `status-${string}`>, { rid }: Wish, dice: Dice): Omit<Step, 'ms'> {
  const status = Number(/\d+/.exec(fault)?.[0]);
  const body = JSON.stringify({ error: { message: `refused ${markOf(rid)}`, code: status } });
  const soon = dice.share() < 0.5 ? '' : `retry-after: ${dice.int(0, 2)}\r\n`;
  if (fault === 'status-502-html') return { bytes: withLength(502, 'text/html', '<h1>bad gateway</h1>') };
  if (fault === 'status-307')
    return { bytes: 'HTTP/1.1 307 Temporary Redirect\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n' };
  const text = withLength(status, 'application/json', body, soon);
  return fault === 'status-503-cut' ? { bytes: text.slice(0, -5), act: 'reset' } : { bytes: text };
}

/** The beginning of an answer. */
function begun(right: readonly Step[], head: string, parts: number): Step[] {
  if (right.length > 1) return right.slice(0, parts);
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

const whole = ({ api, rid, plain, previous }: Wish): string =>
  withLength(200, 'application/json', wholeAnswer(api, rid, plain, previous));

const headOf = (status: number, type: string, length: number, more = ''): string =>
  `HTTP/1.1 ${status} X\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n${more}\r\n`;

export const withLength = (status: number, type: string, body: string, more = ''): string =>
  headOf(status, type, body.length, more) + body;

const streamHead = (): string =>
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
