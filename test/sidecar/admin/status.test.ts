import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { batchInShort, batchRows } from '../../../sidecar/admin/batches.js';
import { downRemedy } from '../../../sidecar/admin/engine-words.js';
import { keyFault } from '../../../sidecar/engines/index.js';
import { outage, PARTS, CALM, statusWith } from './status-with.js';

// Ages are told to a tenth of a second.
beforeAll(() => vi.useFakeTimers({ toFake: ['Date'] }));
afterAll(() => vi.useRealTimers());

it('tells who waits, and for what', () => {
  const told = (queue: NonNullable<Parameters<typeof statusWith>[0]['queue']>) => statusWith({ queue });
  const all = { waiting: 3, background: 3, longest_wait_seconds: 0, waiting_for: { kv: 2, window: 1 } };
  expect(told(all).text).toMatch(/ 3 wait in the background for KV cache or the window\.$/);
  const some = { waiting: 9, background: 6, longest_wait_seconds: 4, waiting_for: { kv: 5, window: 3, retry: 1 } };
  expect(told(some).text).toMatch(
    / 3 wait, the longest for 4 s, and 6 in the background; of all: 8 for KV cache or the window, 1 for another attempt\. /,
  );
});

it('names what most waits of the last half minute lacked, not what the last moment did', () => {
  const told = (lately: Record<string, number>, waiting_for: object) =>
    / 9 wait (.*), the longest/.exec(
      statusWith({
        queue: { waiting: 9, background: 0, longest_wait_seconds: 4, waiting_for },
        waits: { of: (cause: string) => lately[cause] ?? null },
      }).text,
    )?.[1];
  const [both, one] = [
    { kv: 30, window: 24 },
    { kv: 50, window: 2 },
  ];
  expect([{ kv: 9 }, { window: 9 }, { kv: 4, window: 5 }].map((now) => told(both, now))).toEqual(
    Array(3).fill('for KV cache or the window'),
  );
  expect([{ kv: 9 }, { kv: 8, window: 1 }].map((now) => told(one, now))).toEqual(Array(2).fill('for KV cache'));
  expect(told({}, { window: 9 })).toBe('for the window');
});

it('warns of an overload once more calls have waited than run for half a minute, and names a tenant of most', () => {
  const config = { ...PARTS.config, auth: { keys: ['red', 'blue'].map((tenant) => ({ tenant })) } };
  const told = (seconds: number, ofRed: number, waiting = 9) => {
    const queue = { ...CALM.queue, waiting, longest_wait_seconds: 9, waiting_for: { window: waiting } };
    const views = { waiting, waitingOf: (tenant: string) => (tenant === 'red' ? ofRed : waiting - ofRed) };
    return statusWith({ queue, totals: { crowded_since: Date.now() / 1000 - seconds } }, { config, driver: { views } });
  };
  expect([told(29, 9).level, told(30, 9).level]).toEqual(['good', 'warn']);
  // It is over once no call waits, whatever the last reading showed.
  expect(told(30, 0, 0)).toMatchObject({ level: 'good', text: '1 engine up. 7 calls run, none waits.' });
  expect(told(45, 5)).toMatchObject({
    level: 'warn',
    title: 'overload',
    helps: expect.stringMatching(/^What helps: more engines, or fewer calls;/) as string,
  });
  const text = '7 calls run, 9 wait for the window, the longest for 9 s. For 45 s, more calls have waited than run';
  expect([5, 8].map((ofRed) => told(45, ofRed).text)).toEqual([
    `${text}. 1 engine up.`,
    `${text}; most that wait are of tenant red. 1 engine up.`,
  ]);
});

it('tells how many calls clients gave up', () => {
  const told = (waiting: number, running: number) =>
    statusWith({ totals: { calls: 190, left: { waiting, running } } }).text.replace(/^.*, none waits\. /, '');
  expect(told(1, 0)).toBe('Clients gave up 1 call in the last 5 min: 1 that waited.');
  expect(told(2, 11)).toBe('Clients gave up 13 calls in the last 5 min: 2 that waited, 11 that ran.');
});

it('tells that the shared state is away once that has lasted for a second', () => {
  const config = { ...PARTS.config, cluster: { url: 'redis://store:6379', gateways: 2 } };
  const told = (standing_seconds: number) =>
    statusWith(
      { cluster: { standing: 'split', standing_seconds, live: 2, silent: ['b'], other_version: [] } },
      { config },
    );
  expect(told(0.9)).toMatchObject({ level: 'good', text: '1 engine up. 7 calls run, none waits.' });
  expect(told(1)).toMatchObject({
    level: 'warn',
    helps: 'What helps: start the server at redis://store:6379 (docs/CLUSTER.md#failures).',
  });
});

it('says how far a batch is, and why it stands still', () => {
  const batch = {
    id: 'b',
    request_counts: { total: 3, completed: 1, failed: 0 },
    stillMs: 80_000,
    isLate: false,
    inFlight: 1,
    ready: 1,
  };
  const context = (more: object) => ({
    batches: { batches: { underWay: () => [{ ...batch, ...more }] } },
    fleet: { list: () => [{ state: 'up' }] },
  });
  const told = (more: object) => batchRows(context(more) as never).map(batchInShort)[0];
  const still = 'b: 1 of 3 lines, no line has ended for 1 min 20 s';
  expect(told({})).toBe(`${still}: its lines take only the room that other calls leave.`);
  expect(told({ inFlight: 0 })).toBe(`${still}: other batches have all places.`);
  expect(told({ isLate: true })).toBe(`${still.replace(',', ', late,')}.`);
  const failures = { data: [{ line: 2, message: 'No such model.' }] };
  expect(told({ request_counts: { total: 9, completed: 1, failed: 7 } })).toMatch(
    /^b: 8 of 9 lines, 7 of which failed, no line/,
  );
  expect(
    batchRows(context({ failures, request_counts: { total: 9, completed: 1, failed: 7 } }) as never)[0]?.text,
  ).toBe('Line 2 failed: No such model.\nAnd 6 more failed.');
  expect(told({ stillMs: 0, restMs: 5000 })).toBe('b: 1 of 3 lines, about 5 s left at the pace so far.');
});

it('warns of an estimated loss only where all of its range matters', () => {
  const levelAt = (ratio_high: number) => {
    const pool = { models: ['m'], gain: { ratio: 0.8, ratio_low: 0.7, ratio_high } };
    const shadow = { made_at: Date.now() / 1000, window_seconds: 900, pools: [pool] };
    return statusWith({ totals: { shadow } }).level;
  };
  expect([0.96, 0.94].map(levelAt)).toEqual(['good', 'warn']);
});

it('tells failed calls also beside an engine that is down, and when they are over', () => {
  const told = (ageSeconds: number, state = 'up', program = '', more: object = {}) => {
    const last = Date.now() / 1000 - ageSeconds;
    const failed = [
      { code: 'no_engine', calls: 7, fault: 'service', last_at: last - 99, last: '' },
      { code: 'queue_full', calls: 3, fault: 'service', last_at: last, last: program },
    ];
    const engines = [{ id: 'e', state, models: [], in_flight: 0, text: '' }];
    return statusWith({ engines, totals: { calls: 99, failed, ...more } });
  };
  const text = '10 of 99 calls failed in the last 5 min: 7 with no_engine, 3 with queue_full';
  expect(told(20)).toMatchObject({
    level: 'warn',
    text: `1 engine up. No call waits. ${text}; the last one 20 s ago.`,
  });
  expect(told(70)).toMatchObject({
    level: 'good',
    helps: '',
    text: `1 engine up. No call waits. ${text}; the last one 1 min 10 s ago.`,
  });
  const whose = ['default:p', 'red:p', 'red~', 'default~', 'red~p'].map(
    (program) => /queue_full(.*); the last one 20 s ago\.$/.exec(told(20, 'up', program).text)?.[1],
  );
  expect(whose).toEqual([
    ' (the last by program "p")',
    ' (the last by program "p" of tenant red)',
    ' (the last by tenant red)',
    '',
    ' (the last by program "~p" of tenant red)',
  ]);
  // Also few are told, and are no trouble.
  expect(told(20, 'up', '', { calls: 1001 })).toMatchObject({
    level: 'good',
    text: `1 engine up. No call waits. ${text.replace('99', '1,001')}; the last one 20 s ago.`,
  });
  const theirs = ['unknown_model', 'other'].map((code, at) => ({
    code,
    calls: 5,
    fault: 'client',
    last_at: Date.now() / 1000 - 9,
    last: at === 0 ? 'red~' : '',
  }));
  expect(statusWith({ totals: { calls: 9999, failed: theirs } }).text).toMatch(
    /5 with unknown_model \(the last by tenant red\), 5 with other; the last one 9 s ago\.$/,
  );
  expect(['down', 'drained'].map((state) => told(20, state).title)).toEqual(
    ['no engine, e down', 'no engine, e drained'].map((trouble) => `${trouble}, 10 of 99 calls failed`),
  );
  const [at, engines] = [
    Date.now() / 1000 - 20,
    [
      {
        id: 'e',
        state: 'up',
        models: [],
        in_flight: 0,
        failures: { calls: 1, attempts: 9, answered_since: 0, last_at: 0, last: '' },
      },
    ],
  ];
  const ofEngines = ['default:p', ''].map((last) => ({
    code: 'engine_timeout',
    calls: 7,
    fault: 'service',
    last_at: at,
    last,
    engine: 'e',
  }));
  const theEngine = statusWith({ engines, totals: { calls: 99, failed: ofEngines } });
  expect(theEngine.text).toContain(
    ' 7 with engine_timeout (the last by program "p" on e), 7 with engine_timeout (the last on e); ',
  );
  expect(theEngine.helps).toBe('What helps: read the log of e.');
  // An outage that is over comes before the failures that came of it.
  const after = statusWith({
    engines: [{ ...engines[0], outages: [outage(50, 25, 'reset')] }],
    totals: { calls: 99, failed: ofEngines },
  });
  expect([after.text, after.title, after.helps]).toEqual([
    expect.stringMatching(
      /^1 engine up\. No call waits\. e was down for 25 s \(reset\), until 25 s ago\. 14 of 99 calls failed/,
    ),
    'past outage, 14 of 99 calls failed',
    theEngine.helps,
  ]);
  // One that fails much, or is down, has its remedy in its own row.
  const fails = { ...engines[0]!.failures, calls: 9, last_at: at };
  const remedyWith = (more: object) =>
    statusWith({
      engines: [{ ...engines[0], failures: fails, ...more }],
      totals: { calls: 99, failed: ofEngines },
    }).parts.find(({ about }) => about === 'failures')?.remedy;
  expect([{}, { state: 'down', down_reason: 'connection refused', was_up: true }].map(remedyWith)).toEqual([
    undefined,
    undefined,
  ]);
  // The remedy of an engine that is down, or of a drain, is that of the failures that come of it.
  const failed = [{ code: 'no_engine', calls: 7, fault: 'service', last_at: Date.now() / 1000, last: '' }];
  expect(statusWith({ totals: { calls: 9, failed } })).toMatchObject({ level: 'warn', helps: '' });
});

it('has the worst that stands in its title, first, and nothing that is over', () => {
  const failed = [{ code: 'queue_full', calls: 7, fault: 'service', last_at: Date.now() / 1000 - 90, last: '' }];
  const totals = { calls: 9, failed };
  const told = (more: object) => statusWith({ totals, ...more }, { reloadRefused: 'bad' });
  expect(told({})).toMatchObject({ level: 'warn', title: 'reload refused' });
  const engines = ['up', 'down', 'down'].map((state, at) => ({
    id: `e${at}`,
    state,
    models: [],
    in_flight: 0,
    down_since: Date.now() / 1000 - 7 - at,
    down_reason: 'connection refused',
  }));
  expect(told({ engines })).toMatchObject({
    title: 'e1, e2 down, reload refused',
    text: expect.stringMatching(/^e1, e2 have been down for up to 9 s \(connection refused\)\. /) as string,
    helps: 'What helps: start e1, e2, or correct the url. Also: correct the file, and reload it (SIGHUP).',
  });
  // An engine that answers is at its url.
  const reasons = [
    'answered with status 500, where others answered',
    'it is stuck: it has run none of its 3 requests for 9 s',
    'GET /health answered 500',
    'GET /health answered 404',
  ];
  expect(reasons.map((down_reason) => downRemedy({ down_reason, was_up: false }, 'e1'))).toEqual([
    ...Array<string>(3).fill('restart e1, or read its log'),
    'restart or start e1, or correct the url',
  ]);
  expect(downRemedy({ down_reason: 'connection refused', was_up: true }, 'e1')).toBe('start e1');
  const keyed = [{}, { apiKey: 'wrong' }].map((engine) => `/v1/models answered 401${keyFault(engine)}`);
  expect(keyed.map((down_reason) => downRemedy({ down_reason, was_up: true }))).toEqual([
    expect.stringMatching(/^set engines\[\]\.apiKey: /),
    expect.stringMatching(/^correct engines\[\]\.apiKey, /),
  ]);
});

it('warns of waits for which the scheduler itself makes way, with what helps', () => {
  const told = (longest: number, waiting_for: object, ...states: string[]) => {
    const engines = states.map((state, at) => ({
      id: `e${at}`,
      state,
      models: ['m'],
      in_flight: 0,
      source: state === 'draining' ? null : 'config',
    }));
    return statusWith({ engines, queue: { waiting: 9, background: 0, longest_wait_seconds: longest, waiting_for } });
  };
  expect(told(119, { kv: 9 }, 'up')).toMatchObject({ level: 'good', title: '9 waiting' });
  // An engine that is drained, and may come back, would help.
  expect(told(119, { kv: 9 }, 'up', 'drained').level).toBe('good');
  expect(['draining', 'drained'].map((state) => told(121, { kv: 9 }, 'up', state).title)).toEqual([
    'long waits',
    'e1 drained, long waits',
  ]);
  expect(told(121, { kv: 9 }, 'up')).toMatchObject({
    level: 'warn',
    title: 'long waits',
    helps: expect.stringContaining('maitred sim tells how many') as string,
  });
  // The remedy of one that is down is told with it.
  expect(told(121, { kv: 9 }, 'up', 'down').helps).toMatch(
    /^What helps: restart or start e1, or correct the url\. Also: more engines, or fewer calls;/,
  );
  const atOnce = { config: { ...PARTS.config, admission: { reserveMs: 0 } } };
  const queue = { waiting: 1, background: 0, longest_wait_seconds: 29, waiting_for: { kv: 1 } };
  expect(statusWith({ queue }, atOnce).level).toBe('good');
  // An engine is on probation for a moment, and not fully up.
  const back = told(9, { kv: 8, probation: 1 }, 'up', 'probation');
  expect([back.level, back.text]).toEqual([
    'good',
    expect.stringMatching(/^1 of 2 engines up, 1 on probation\. 9 calls wait/),
  ]);
  expect(told(9, { resting: 9 }, 'up')).toMatchObject({
    level: 'warn',
    title: 'waits for an engine that reported no room',
    helps: 'What helps: more engines; such a rest takes seconds.',
  });
});
