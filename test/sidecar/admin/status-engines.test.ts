import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Engine } from '../../../sidecar/admin/answers.js';
import { engineInWords } from '../../../sidecar/admin/engine-words.js';
import { outage, statusWith } from './status-with.js';

// Ages are told to a tenth of a second.
beforeAll(() => vi.useFakeTimers({ toFake: ['Date'] }));
afterAll(() => vi.useRealTimers());

it('says what an engine that is up has room for, and since when one is down', () => {
  const up = {
    state: 'up',
    resting: false,
    in_flight: 1,
    window: 4,
    rest_tokens: 36_000,
    working_set_tokens: 34_000,
    idle_tokens: 20_000,
    failures: null,
    outages: [],
  };
  const told = (more: object) => engineInWords({ ...up, ...more } as unknown as Engine);
  expect(told({})).toBe('Takes calls that need up to 2,000 tokens.');
  expect(told({ rest_tokens: null })).toBe('Takes calls.');
  expect(told({ working_set_tokens: 35_900, idle_tokens: 0 })).toBe('Its KV gate is full: 35,900 of 36,000 tokens.');
  expect(told({ working_set_tokens: 35_900 })).toBe(
    'Its KV gate is full: 35,900 of 36,000 tokens, 20,000 of them idle contexts.',
  );
  expect(told({ silent_seconds: 8 })).toBe('Has answered no call and no probe for 8 s; 1 call runs there.');
  const refuses = { in_flight: 0, refused_seconds: 8 };
  const refused = 'calls for lack of room (429, 503): they pause there for 8 s more.';
  expect(told(refuses)).toBe(`Refuses some ${refused}`);
  expect(told({ ...refuses, resting: true })).toBe(`Refuses ${refused}`);
  // An empty one takes a call that is larger than its gate.
  expect(told({ in_flight: 0, working_set_tokens: 36_000 })).toBe('Takes any call, as none runs there.');
  expect(
    told({ state: 'down', down_since: Date.now() / 1000 - 9, down_reason: 'no answer', probe_in_seconds: 3 }),
  ).toBe('Has been down for 9 s (no answer); probed again in 3 s.');
  expect(
    told({
      state: 'down',
      down_since: Date.now() / 1000 - 9,
      outages: [1, 2].map(() => ({ reason: 'x', until: null })),
      in_flight: 0,
      probe_in_seconds: 0.4,
    }),
  ).toBe('Has been down for 9 s (unknown); it was down 2 times in the last 5 min.');
  expect([4, 5].map((in_flight) => told({ in_flight }))).toEqual([
    'Its window is full.',
    'Its window has shrunk below its calls in flight.',
  ]);
  expect(told({ in_flight: 0, all_gateways: { in_flight: 1 } })).toBe('Takes calls that need up to 2,000 tokens.');
});

it('tells outages that are over, those of engines alike once', () => {
  const told = (...engines: (readonly ReturnType<typeof outage>[])[]) =>
    statusWith({
      engines: engines.map((outages, at) => ({ id: 'efgh'[at], state: 'up', models: [], in_flight: 0, outages })),
    });
  const [lost, gone] = [outage(90, 60, 'no answer'), outage(26, 16, 'connection refused')];
  const remedies = ({ parts }: ReturnType<typeof told>) => parts.flatMap(({ remedy }) => remedy ?? []);
  const one = told([lost], []);
  expect([one.level, one.text, remedies(one)]).toEqual([
    'good',
    '2 engines up. No call waits. e was down for 30 s (no answer), until 1 min ago.',
    ['read the log of e'],
  ]);
  const past = (...engines: Parameters<typeof told>) => told(...engines).text.replace(/^.*No call waits\. /, '');
  expect(past([gone, outage(9, 8, 'reset')], [], [outage(50, 30, 'connection refused')], [gone])).toBe(
    'e was down 2 times for 11 s in all, until 8 s ago; the longest took 10 s (connection refused). g, h were down for up to 20 s (connection refused), until 16 s ago.',
  );
  const drains = [outage(50, 42, 'drained'), outage(20, 6, 'drained')];
  expect(told(drains, []).text).toBe('2 engines up. No call waits.');
  // Intersected: one went down while the other was drained.
  expect(past([outage(50, 30, 'drained')], [outage(40, 20, 'reset')])).toMatch(
    /^No engine was up for 10 s, until 30 s ago\. /,
  );
  expect(past([outage(50, 30, 'drained')], [outage(30, 20, 'reset')], [])).not.toContain('No engine was up');
  // A planned one is no news beside a fault, and outages that ended apart are told apart.
  expect(past([drains[1]!, gone], [outage(260, 250, 'connection refused')])).toMatch(
    /^e was down for 10 s \(connection refused\), until 16 s ago\. f was down for 10 s .*4 min/,
  );
});

it('tells what an engine that is up has failed, and warns of much until none has for a minute', () => {
  const up = { id: 'e1', state: 'up', models: ['m'], in_flight: 0, failures: null, outages: [] };
  const told = (
    calls: number,
    attempts: number,
    age: number,
    more: object = {},
    answered_since = 0,
    mended = false,
  ) => {
    const failures = {
      calls,
      attempts,
      last_at: Date.now() / 1000 - age,
      last: 'status 500',
      answered_since,
      mended,
      began_at: Date.now() / 1000 - 720,
    };
    const engine = { ...up, id: 'e3', failures, ...more };
    const { level, helps, text } = statusWith({ engines: [engine, up] });
    return [level, helps, text, engineInWords(engine as unknown as Engine)];
  };
  const text =
    '40 of 60 attempts failed in the last 5 min; failures began 12 min ago; the last one 9 s ago: status 500.';
  expect(told(40, 60, 9)).toEqual([
    'warn',
    'What helps: maitred engines drain e3, and read its log.',
    `e3 fails calls: ${text} 2 engines up. No call waits.`,
    `Fails calls. ${text}`,
  ]);
  // Without it, calls for a model would fail.
  expect(told(40, 60, 9, { models: ['x'] })[1]).toBe('What helps: restart e3, or read its log.');
  // Over is what it failed before it could not be reached.
  const [others, gone] = ['answered with status 500, where others answered', 'connection refused'];
  const back = (reason: string, ago: number, ...answers: [number?, boolean?]) =>
    told(40, 60, 9, { outages: [outage(70, 40, gone), outage(20, ago, reason)] }, ...answers);
  expect([back(gone, 3), back(gone, 10), back(others, 3), back(others, 3, 4)].map(([level]) => level)).toEqual([
    'good',
    'warn',
    'bad',
    'bad',
  ]);
  const facts = `${text} It has answered 4 calls since. It was down 2 times. 2 engines up. No call waits.`;
  expect(back(others, 3, 4)[2]).toBe(`e3 fails calls: ${facts}`);
  // One that answers again failed them: nothing asks for a drain, and a single outage of few failures is a note.
  expect(back(others, 3, 4, true).slice(0, 3)).toEqual([
    'warn',
    'What helps: read the log of e3.',
    `e3 failed calls: ${facts}`,
  ]);
  const few = (...outages: object[]) => told(3, 781, 9, { outages }, 4, true);
  expect(few(outage(9, 8, others)).slice(0, 3)).toEqual([
    'good',
    '',
    '2 engines up. No call waits. e3 was down for 1 s (answered with status 500, where others answered), until 8 s ago.',
  ]);
  expect(few(outage(20, 15, others), outage(9, 8, others))[0]).toBe('warn');
  // Of an engine that was taken down for them, the good answers before hide nothing: it is told alike, whether it is down at the moment or not.
  const flaps = (reason: string, more: object = {}) =>
    told(3, 781, 1, { outages: [outage(9, 8, gone), outage(5, 3, reason)], ...more }).slice(0, 3);
  expect(flaps(gone)[0]).toBe('good');
  const atDown = flaps(others, { state: 'down', down_reason: others });
  expect(atDown).toEqual(flaps(others).map((each) => each.replace('2 engines up', '1 of 2 engines up')));
  expect(flaps(others)).toEqual([
    'bad',
    'What helps: maitred engines drain e3, and read its log.',
    'e3 fails calls: 3 of 781 attempts failed in the last 5 min; failures began 12 min ago; the last one 1 s ago: status 500. It was down 2 times. 2 engines up. No call waits.',
  ]);
  // Once it is drained, nothing asks for that, and it comes back mended.
  const failed = [
    { code: 'engine_error', calls: 3, fault: 'service', last_at: Date.now() / 1000, last: '', engine: 'e3' },
  ];
  const drained = {
    ...up,
    id: 'e3',
    state: 'drained',
    down_since: Date.now() / 1000 - 48,
    down_reason: null,
    failures: { calls: 40, attempts: 60, last_at: Date.now() / 1000 - 48, last: '', answered_since: 0 },
  };
  const { parts, text: away } = statusWith({ engines: [drained, up], totals: { calls: 9, failed } });
  expect(away).toContain('e3 has been drained for 48 s: it takes');
  expect(parts.flatMap(({ remedy }) => remedy ?? [])).toEqual([
    'read the log of e3, and once that is mended, maitred engines undrain e3',
  ]);
  const levels = [
    [4, 5, 9],
    [5, 100, 9],
    [5, 101, 9],
    [40, 60, 61],
  ] as const;
  expect(levels.map(([calls, sent, age]) => told(calls, sent, age)[0])).toEqual(['good', 'warn', 'good', 'good']);
});

it('gives each row the remedy of its own engines', () => {
  const engine = (id: string, state: string, age: number, more: object = {}) => ({
    id,
    state,
    models: [],
    in_flight: 0,
    down_since: Date.now() / 1000 - age,
    down_reason: state === 'down' ? 'connection refused' : null,
    was_up: true,
    ...more,
  });
  const rows = (...engines: object[]) =>
    statusWith({ engines })
      .parts.filter(({ about }) => about === 'engines')
      .map(({ text, remedy }) => [text.split(/ (?:has|have|was|were) /)[0], remedy]);
  const apart = [
    engine('a', 'down', 200),
    engine('b', 'down', 9),
    engine('c', 'down', 8),
    engine('d', 'drained', 9),
    engine('e', 'drained', 8),
  ];
  expect(rows(...apart)).toEqual([
    ['a', 'start a'],
    ['b, c', 'start b, c'],
    ['d, e', 'maitred engines undrain d; maitred engines undrain e'],
  ]);
  const mended = [outage(90, 60, 'reset')];
  const failed = { calls: 1, attempts: 900, last_at: Date.now() / 1000 - 200, last: '', answered_since: 800 };
  expect(rows(engine('a', 'up', 0, { outages: mended }), engine('b', 'up', 0, { failures: failed }))).toEqual([
    ['a', 'read the log of a'],
  ]);
});

it('names engines out of service, the worst first, and what helps those that are down', () => {
  const told = (...states: string[]) => {
    const models = (state: string) => (state === 'down' ? ['m', 'n'] : ['m']);
    const engines = states.map((state, at) => ({
      id: `e${at}`,
      state,
      models: models(state),
      in_flight: 0,
      down_since: Date.now() / 1000 - 40 * at,
      probe_in_seconds: null,
    }));
    const { text, helps } = statusWith({ engines });
    return `${text} ${helps}`.trim();
  };
  const drained = (seconds: number) =>
    `has been drained for ${seconds} s: it takes no calls until it is returned to service.`;
  expect(told('down', 'drained')).toBe(
    `0 of 2 engines up for 0 s: each call waits 30 s for one, and then fails. e0 has been down for 0 s (unknown). e1 ${drained(40)} No call waits. What helps: restart or start e0, or correct the url. Also: maitred engines undrain e1.`,
  );
  expect(told('down', 'up')).toContain(
    'e0 has been down for 0 s (unknown). Calls for models that no other serves wait or fail meanwhile. 1 of 2 engines up.',
  );
  expect(told('drained', 'draining')).toBe(
    `0 of 2 engines up for 0 s: new calls fail at once. e0 ${drained(0)} e1 is draining: 0 calls left, no new ones. No call waits. What helps: maitred engines undrain e0. Also: maitred engines undrain e1.`,
  );
  const starting = { id: 's', state: 'starting', models: ['m'], in_flight: 0, down_since: null };
  expect(statusWith({ engines: [starting] }).text).toMatch(
    /^0 of 1 engine up, 1 starting: each call waits 30 s for one, and then fails\. /,
  );
  const unknown = { id: 'e', state: 'down', models: [], in_flight: 0 };
  expect(statusWith({ engines: [unknown] }).text).toContain('0 of 1 engine up: new calls fail at once.');
  expect(told('up', 'drained')).toBe(`1 of 2 engines up. e1 ${drained(40)} No call waits.`);
  // Those of very different times are told apart.
  const ages = [725, 12, 9].map((age, at) => ({
    id: `e${at}`,
    state: 'drained',
    models: ['m'],
    in_flight: 0,
    down_since: Date.now() / 1000 - age,
  }));
  expect(statusWith({ engines: ages }).text).toMatch(
    /^0 of 3 engines up for 9 s: .* e0 has been drained for 12 min 5 s: .* e1, e2 have been drained for up to 12 s: /,
  );
});

it('warns of an engine that is silent, as soon as that is known', () => {
  const engines = [5, 2].map((in_flight, at) => ({
    id: `e${at}`,
    state: 'up',
    models: ['m'],
    in_flight,
    window: 9,
    silent_seconds: at === 0 ? 8.2 : null,
  }));
  expect(statusWith({ engines })).toMatchObject({
    level: 'warn',
    title: 'e0 silent',
    text: 'e0 has answered no call and no probe for 8.2 s; 5 calls run there. 2 engines up. 7 calls run, none waits.',
    helps: 'What helps: restart e0, or read its log.',
  });
});
