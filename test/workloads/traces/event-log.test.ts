import { constants, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { programLine, type AgentCall } from '../../../workloads/index.js';
import { BEHAVIOUR, callId, engineId, millis, programId, type Command, type Event } from '../../../src/index.js';
import {
  arrived,
  cancelled,
  ended,
  failed,
  finished,
  joined,
  progressed,
  started,
  type ArrivalFacts,
  type FinishFacts,
} from '../../support/core-events.js';
import { readText } from '../../support/traces.js';
import { jsonLines } from '../../support/trajectory.js';

const VERSIONS = { maitredEventLog: 1, behaviour: BEHAVIOUR, maitred: '0' };
const HEADER = { ...VERSIONS, startedAt: '1970-01-01T00:00:10.000Z', now: 1000, settings: {} };
type Line = readonly [now: number, event: Event, ...commands: Command[]];
const logOf = (lines: readonly Line[]) =>
  jsonLines([HEADER, ...lines.map(([now, event, ...commands]) => ({ now, event, commands }))]);

const come = (now: number, call: string, facts: ArrivalFacts = {}): Line => [
  now,
  arrived(call, { program: 'p', prompt: 100, ...facts }),
];
const done = (now: number, call: string, facts: FinishFacts = { prompt: 100, output: 10 }): Line => [
  now,
  finished(call, facts),
];

/** The programs of a log, and what they are as lines of our own format, which checks them. */
async function read(...lines: readonly Line[]) {
  const { programs, problems, format } = await readText(logOf(lines));
  expect(format).toBe('event-log');
  const again = await readText(programs.map((program) => `${programLine(program)}\n`).join(''), 'maitred');
  if (programs.length > 0) expect(again.problems).toEqual([]);
  return { programs, problems };
}

async function callsOf(...lines: readonly Line[]): Promise<readonly AgentCall[]> {
  const { programs, problems } = await read(...lines);
  expect(problems).toEqual([]);
  expect(programs).toHaveLength(1);
  return programs[0]!.calls;
}

/** Of each call its thread, the calls that it waits for, and the gap behind them. */
const links = (calls: readonly AgentCall[]) =>
  calls.map(({ thread, after, gapMs }) => `${thread}[${after.join()}]+${gapMs}`).join(' ');

describe('a program of an event log', () => {
  it('arrives by the wall clock, with the gaps between its calls and what they share', async () => {
    const { programs } = await read(
      [900, joined('e')],
      come(3000.4, 'a'),
      done(3500, 'a', { prompt: 120, output: 30 }),
      come(4000.2, 'b', { prompt: 170 }),
      done(4100, 'b', { prompt: 160, output: 5 }),
      come(4100, 'c', { prompt: 163 }),
      done(4200, 'c', {}),
      come(4250, 'd', { prompt: 90 }),
      done(4300, 'd', { prompt: 90, output: 1, cached: 64 }),
    );
    const linked = (after: number[], gapMs: number, promptTokens: number, outputTokens: number, tokens?: number) => ({
      ...{ after, gapMs, thread: '', promptTokens, outputTokens },
      ...(tokens !== undefined && { prefix: { call: after[0]!, tokens } }),
    });
    const calls = [
      linked([], 0, 120, 30),
      linked([0], 500, 160, 5, 150),
      // No usage: what the gateway thought. Not long enough for the answer before it.
      linked([1], 0, 163, 0, 160),
      // Shorter than the call before it: what the engine had.
      linked([2], 50, 90, 1, 64),
    ];
    expect(programs).toEqual([{ id: 'p@3', arrivalMs: 12_000, calls }]);
  });

  it('shares the beginning of its first prompt with others of its tenant and model', async () => {
    const call = (at: number, id: string, facts: ArrivalFacts) => [
      come(at, id, facts),
      done(at + 100, id, { prompt: 100, output: 10, cached: 48 }),
    ];
    const same = call(1200, 'b', { program: 'q', model: 'm\0engine' });
    const { programs } = await read(...call(1000, 'a', {}), ...same, ...call(1400, 'c', { program: 'r', tenant: 'o' }));
    const [one, two, three] = programs.map(({ calls }) => calls[0]!.prefix as { name: string; tokens: number });
    expect(one!.tokens).toBe(48);
    expect(two).toEqual(one);
    expect(three!.name).not.toBe(one!.name);
  });

  it('fans out and joins as its calls came and ended', async () => {
    const calls = await callsOf(
      come(1000, 'plan'),
      done(1100, 'plan'),
      come(1100, 'left'),
      come(1130, 'right'),
      done(1300, 'right'),
      done(1400, 'left'),
      come(1500, 'join'),
      done(1600, 'join'),
    );
    // In the order of their ends.
    expect(links(calls)).toBe('[]+0 [0]+30 [0]+0 [1,2]+100');
  });

  it('has sub-agents that wait for their own calls alone, and that the root waits for', async () => {
    const calls = await callsOf(
      come(1000, 'plan'),
      done(1100, 'plan'),
      come(1100, 'a1', { thread: 'a' }),
      come(1100, 'b1', { thread: 'b' }),
      done(1200, 'a1'),
      done(1250, 'b1'),
      come(1300, 'a2', { thread: 'a', prompt: 130 }),
      done(1400, 'a2', { prompt: 130, output: 1 }),
      come(1500, 'join', { prompt: 150 }),
      done(1600, 'join', { prompt: 150, output: 1 }),
    );
    expect(links(calls)).toBe('[]+0 a[0]+0 b[0]+0 a[1]+100 [2,3]+100');
    expect(calls.slice(-2).map(({ prefix }) => prefix)).toEqual([1, 0].map((call) => ({ call, tokens: 110 })));
  });

  it('keeps what was answered of calls that did not end well, and leaves out the others', async () => {
    const reject = { type: 'reject', call: callId('full'), refusal: 'queue_full' } as const;
    const calls = await callsOf(
      come(1000, 'left'),
      [1100, started('left')],
      [1200, progressed('left', 17)],
      [1300, cancelled('left')],
      come(1400, 'never'),
      [1500, cancelled('never')],
      come(1500, 'full'),
      [1500, arrived('other', { program: 'q' }), reject],
      come(1600, 'lost'),
      [1700, started('lost')],
      [1750, failed('lost', 'broken')],
      [1800, started('lost')],
      [1850, progressed('lost', 3)],
      [1900, failed('lost', 'lost')],
      come(2000, 'runs'),
    );
    expect(links(calls)).toBe('[]+0 [0]+300');
    expect(calls.map(({ outputTokens }) => outputTokens)).toEqual([17, 3]);
  });

  it('is known up to where an archive without its end ends', async () => {
    const log = logOf([come(3000, 'a'), done(3500, 'a')]);
    const packed = gzipSync(log, { finishFlush: constants.Z_SYNC_FLUSH });
    const { programs, problems } = await readText(packed);
    expect(problems).toEqual(['4 unreadable']);
    expect(programs).toHaveLength(1);
  });

  it('ends where the gateway forgets it; the next of its name is another', async () => {
    const facts = { calls: 1, serviceMs: millis(1), waitingMs: millis(0), durationMs: millis(9) };
    const gone = (cause: 'ended' | 'expired'): Command => ({
      type: 'programGone',
      program: programId('p'),
      cause,
      ...facts,
    });
    const { programs, problems } = await read(
      come(1000, 'a'),
      done(1100, 'a'),
      [2000, { type: 'engineLost', engine: engineId('e') }, gone('expired')],
      come(2100, 'b'),
      [2200, ended('p')],
      come(2300, 'c'),
      [2400, finished('b', { prompt: 1, output: 1 }), gone('ended')],
      done(2500, 'c'),
      come(2600, 'd', { program: 'q' }),
    );
    expect(problems).toEqual([]);
    expect(programs.map(({ id, calls }) => `${id} ${calls.length}`)).toEqual(['p@2 1', 'p@5 1', 'p@7 1']);
  });
});

describe('an event log', () => {
  const good = [come(1000, 'a'), done(1100, 'a')];
  const later = [come(1200, 'b', { program: 'q' }), done(1300, 'b')];

  it.each<[string, unknown, string]>([
    ['a field of the wrong type', { now: 1, event: { type: 'callStarted', call: 3 }, commands: [] }, 'event.call'],
    ['a call that came before', { now: 1, event: come(1, 'b')[1], commands: [] }, 'event.call'],
    ['too many tokens', { now: 1, event: arrived('z', { prompt: 2e9 }), commands: [] }, 'event.promptTokens'],
    ['a time that is none', { now: -5, event: { type: 'woke' }, commands: [] }, 'now'],
    ['a second header', HEADER, 'maitredEventLog'],
    ['what is no line of one', { hello: 1 }, ''],
  ])('with %s leaves that line out, and tells it', async (_, line, field) => {
    const text = logOf([...good, later[0]!]) + jsonLines([line]) + logOf([later[1]!]).split('\n').slice(1).join('\n');
    const { programs, problems } = await readText(text);
    expect(programs).toHaveLength(2);
    expect(problems).toEqual([`5 bad_field${field && ` ${field}`}`]);
  });

  it.each<[string, unknown, string]>([
    ['of a newer version', { ...HEADER, maitredEventLog: 2 }, '1 bad_field maitredEventLog'],
    ['without a date', { ...HEADER, startedAt: 'noon' }, '1 bad_field startedAt'],
    ['without its header', come(1, 'a'), '1 bad_field'],
  ])('%s is not read', async (_, header, problem) => {
    const text = jsonLines([header]) + logOf(good).split('\n').slice(1).join('\n');
    const { programs, problems } = await readText(text, 'event-log');
    expect(programs).toEqual([]);
    expect(problems).toEqual([problem]);
  });
});
