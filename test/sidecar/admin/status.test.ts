import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { WAIT_CAUSES } from '../../../src/index.js';
import type { Engine } from '../../../sidecar/admin/answers.js';
import { batchInShort, batchRows } from '../../../sidecar/admin/batches.js';
import { downRemedy, engineInWords } from '../../../sidecar/admin/engine-words.js';
import { keyFault } from '../../../sidecar/engines/index.js';
import { statusOf } from '../../../sidecar/admin/status.js';

// Ages are told to a tenth of a second.
beforeAll(() => vi.useFakeTimers({ toFake: ['Date'] }));
afterAll(() => vi.useRealTimers());

it('says what an engine that is up has room for, and since when one is down', () => {
  const up = { state: 'up', resting: false, in_flight: 1, window: 4, rest_tokens: 36_000, working_set_tokens: 34_000, idle_tokens: 20_000, failures: null, outages: [] }; // prettier-ignore
  const told = (more: object) => engineInWords({ ...up, ...more } as unknown as Engine);
  expect(told({})).toBe('Takes calls that need up to 2,000 tokens.');
  expect(told({ rest_tokens: null })).toBe('Takes calls.');
  expect(told({ working_set_tokens: 35_900, idle_tokens: 0 })).toBe('Its KV gate is full: 35,900 of 36,000 tokens.'); // prettier-ignore
  expect(told({ working_set_tokens: 35_900 })).toBe('Its KV gate is full: 35,900 of 36,000 tokens, 20,000 of them idle contexts.'); // prettier-ignore
  expect(told({ silent_seconds: 8 })).toBe('Has answered no call and no probe for 8 s; 1 call runs there.');
  // An empty one takes a call that is larger than its gate.
  expect(told({ in_flight: 0, working_set_tokens: 36_000 })).toBe('Takes any call, as none runs there.');
  expect(told({ state: 'down', down_since: Date.now() / 1000 - 9, down_reason: 'no answer', probe_in_seconds: 3 })).toBe('Has been down for 9 s (no answer); probed again in 3 s.'); // prettier-ignore
  expect(told({ state: 'down', down_since: Date.now() / 1000 - 9, outages: [1, 2].map(() => ({ reason: 'x', until: null })), in_flight: 0, probe_in_seconds: 0.4 })).toBe('Has been down for 9 s (unknown); it was down 2 times in the last 5 min.'); // prettier-ignore
  expect([4, 5].map((in_flight) => told({ in_flight }))).toEqual(['Its window is full.', 'Its window has shrunk below its calls in flight.']); // prettier-ignore
  expect(told({ in_flight: 0, all_gateways: { in_flight: 1 } })).toBe('Takes calls that need up to 2,000 tokens.');
});

/** Seconds ago. */
const outage = (from: number, until: number | null, reason: string) => ({ from: Date.now() / 1000 - from, until: until && Date.now() / 1000 - until, reason }); // prettier-ignore

it('tells outages that are over, those of engines alike once', () => {
  const told = (...engines: (readonly ReturnType<typeof outage>[])[]) =>
    statusWith({ engines: engines.map((outages, at) => ({ id: 'efgh'[at], state: 'up', models: [], in_flight: 0, outages })) }); // prettier-ignore
  const [lost, gone] = [outage(90, 60, 'no answer'), outage(26, 16, 'connection refused')];
  const remedies = ({ parts }: ReturnType<typeof told>) => parts.flatMap(({ remedy }) => remedy ?? []);
  const one = told([lost], []);
  expect([one.level, one.text, remedies(one)]).toEqual(['good', '2 engines up. No call waits. e was down for 30 s (no answer), until 1 min ago.', ['read the log of e']]); // prettier-ignore
  const past = (...engines: Parameters<typeof told>) => told(...engines).text.replace(/^.*No call waits\. /, '');
  expect(past([gone, outage(9, 8, 'reset')], [], [outage(50, 30, 'connection refused')], [gone])).toBe('e was down 2 times for 11 s in all, until 8 s ago; the longest took 10 s (connection refused). g, h were down for up to 20 s (connection refused), until 16 s ago.'); // prettier-ignore
  const drains = [outage(50, 42, 'drained'), outage(20, 6, 'drained')];
  expect(told(drains, []).text).toBe('2 engines up. No call waits.');
  // Intersected: one went down while the other was drained.
  expect(past([outage(50, 30, 'drained')], [outage(40, 20, 'reset')])).toMatch(
    /^No engine was up for 10 s, until 30 s ago\. /,
  );
  expect(past([outage(50, 30, 'drained')], [outage(30, 20, 'reset')], [])).not.toContain('No engine was up');
  // A planned one is no news beside a fault, and outages that ended apart are told apart.
  expect(past([drains[1]!, gone], [outage(260, 250, 'connection refused')])).toMatch(/^e was down for 10 s \(connection refused\), until 16 s ago\. f was down for 10 s .*4 min/); // prettier-ignore
});

it('tells what an engine that is up has failed, and warns of much until none has for a minute', () => {
  const up = { id: 'e1', state: 'up', models: ['m'], in_flight: 0, failures: null, outages: [] };
  const told = (calls: number, attempts: number, age: number, more: object = {}, answered_since = 0) => {
    const failures = {
      calls,
      attempts,
      last_at: Date.now() / 1000 - age,
      last: 'status 500',
      answered_since,
      began_at: Date.now() / 1000 - 720,
    };
    const engine = { ...up, id: 'e3', failures, ...more };
    const { level, helps, text } = statusWith({ engines: [engine, up] });
    return [level, helps, text, engineInWords(engine as unknown as Engine)];
  };
  const text =
    '40 of 60 attempts failed in the last 5 min; failures began 12 min ago; the last one 9 s ago: status 500.';
  expect(told(40, 60, 9)).toEqual(['warn', 'What helps: maitred engines drain e3, and read its log.', `e3 fails calls: ${text} 2 engines up. No call waits.`, `Takes any call, as none runs there. ${text}`]); // prettier-ignore
  // Without it, calls for a model would fail.
  expect(told(40, 60, 9, { models: ['x'] })[1]).toBe('What helps: restart e3, or read its log.');
  // Over is what it failed before it could not be reached, or before so many answers that one more failure was due.
  const [others, gone] = ['answered with status 500, where others answered', 'connection refused'];
  const back = (reason: string, ago: number, answers = 0) =>
    told(40, 60, 9, { outages: [outage(70, 40, gone), outage(20, ago, reason)] }, answers);
  expect([back(gone, 3), back(gone, 10), back(others, 3), back(others, 3, 4), back(others, 3, 5)].map(([level]) => level)).toEqual(['good', 'warn', 'bad', 'bad', 'good']); // prettier-ignore
  expect(back(others, 3, 4)[2]).toBe(`e3 fails calls: ${text} It has answered 4 calls since. It was down 2 times. 1 of 2 engines up. No call waits.`); // prettier-ignore
  // Of an engine that was taken down for them, the good answers before hide nothing: it is told alike, whether it is down at the moment or not.
  const flaps = (reason: string, more: object = {}) => told(3, 781, 1, { outages: [outage(9, 8, gone), outage(5, 3, reason)], ...more }).slice(0, 3); // prettier-ignore
  expect(flaps(gone)[0]).toBe('good');
  expect(flaps(others)).toEqual(flaps(others, { state: 'down', down_reason: others }));
  expect(flaps(others)).toEqual(['bad', 'What helps: maitred engines drain e3, and read its log.', 'e3 fails calls: 3 of 781 attempts failed in the last 5 min; failures began 12 min ago; the last one 1 s ago: status 500. It was down 2 times. 1 of 2 engines up. No call waits.']); // prettier-ignore
  // Once it is drained, nothing asks for that, and it comes back mended.
  const failed = [{ code: 'engine_error', calls: 3, fault: 'service', last_at: Date.now() / 1000, last: '', engine: 'e3' }]; // prettier-ignore
  const drained = { ...up, id: 'e3', state: 'drained', down_since: Date.now() / 1000 - 48, down_reason: null, failures: { calls: 40, attempts: 60, last_at: Date.now() / 1000 - 48, last: '', answered_since: 0 } }; // prettier-ignore
  const { parts, text: away } = statusWith({ engines: [drained, up], totals: { calls: 9, failed } });
  expect(away).toContain('e3 has been drained for 48 s: it takes');
  expect(parts.flatMap(({ remedy }) => remedy ?? [])).toEqual(['read the log of e3, and once that is mended, maitred engines undrain e3']); // prettier-ignore
  const levels = [[4, 5, 9], [5, 100, 9], [5, 101, 9], [40, 60, 61]] as const; // prettier-ignore
  expect(levels.map(([calls, sent, age]) => told(calls, sent, age)[0])).toEqual(['good', 'warn', 'good', 'good']);
});

const PARTS = { untilRestart: [], fleet: { awaited: new Set() }, config: { admission: { reserveMs: 120_000 }, timeouts: { noEngineMs: 30_000 } } }; // prettier-ignore
const NO_WAITS = Object.fromEntries(WAIT_CAUSES.map((cause) => [cause, 0]));
const CALM = { engines: [{ state: 'up', in_flight: 7 }], queue: { waiting: 0, background: 0, waiting_for: {} }, batches: [], cluster: null, totals: { calls: 0, failed: [], left: { waiting: 0, running: 0 }, crowded_since: null }, waits: { of: () => null } }; // prettier-ignore
const statusWith = (
  { totals, engines = CALM.engines, queue = CALM.queue, ...more }: { readonly totals?: object; readonly queue?: { readonly waiting_for?: object; readonly [of: string]: unknown }; readonly [of: string]: unknown },
  parts: object = {},
) => statusOf({ ...PARTS, ...parts } as never, { ...CALM, totals: { ...CALM.totals, ...totals }, ...more, queue: { ...CALM.queue, ...queue, waiting_for: { ...NO_WAITS, ...queue.waiting_for } }, engines: (engines as object[]).map((engine) => ({ outages: [], failures: null, ...engine })) } as never); // prettier-ignore

it('tells who waits, and for what', () => {
  const told = (queue: NonNullable<Parameters<typeof statusWith>[0]['queue']>) => statusWith({ queue });
  const all = { waiting: 3, background: 3, longest_wait_seconds: 0, waiting_for: { kv: 2, window: 1 } };
  expect(told(all).text).toMatch(/ 3 wait in the background for KV cache or the window\.$/);
  const some = { waiting: 9, background: 6, longest_wait_seconds: 4, waiting_for: { kv: 5, window: 3, retry: 1 } };
  expect(told(some).text).toMatch(/ 3 wait, the longest for 4 s, and 6 in the background; of all: 8 for KV cache or the window, 1 for another attempt\. /); // prettier-ignore
});

it('names what most waits of the last half minute lacked, not what the last moment did', () => {
  const told = (lately: Record<string, number>, waiting_for: object) =>
    / 9 wait (.*), the longest/.exec(statusWith({ queue: { waiting: 9, background: 0, longest_wait_seconds: 4, waiting_for }, waits: { of: (cause: string) => lately[cause] ?? null } }).text)?.[1]; // prettier-ignore
  const [both, one] = [
    { kv: 30, window: 24 },
    { kv: 50, window: 2 },
  ];
  expect([{ kv: 9 }, { window: 9 }, { kv: 4, window: 5 }].map((now) => told(both, now))).toEqual(Array(3).fill('for KV cache or the window')); // prettier-ignore
  expect([{ kv: 9 }, { kv: 8, window: 1 }].map((now) => told(one, now))).toEqual(Array(2).fill('for KV cache'));
  expect(told({}, { window: 9 })).toBe('for the window');
});

it('gives each row the remedy of its own engines', () => {
  const engine = (id: string, state: string, age: number, more: object = {}) => ({ id, state, models: [], in_flight: 0, down_since: Date.now() / 1000 - age, down_reason: state === 'down' ? 'connection refused' : null, was_up: true, ...more }); // prettier-ignore
  const rows = (...engines: object[]) => statusWith({ engines }).parts.filter(({ about }) => about === 'engines').map(({ text, remedy }) => [text.split(/ (?:has|have|was|were) /)[0], remedy]); // prettier-ignore
  const apart = [engine('a', 'down', 200), engine('b', 'down', 9), engine('c', 'down', 8), engine('d', 'drained', 9), engine('e', 'drained', 8)]; // prettier-ignore
  expect(rows(...apart)).toEqual([['a', 'start a'], ['b, c', 'start b, c'], ['d, e', 'maitred engines undrain d; maitred engines undrain e']]); // prettier-ignore
  const mended = [outage(90, 60, 'reset')];
  const failed = { calls: 1, attempts: 900, last_at: Date.now() / 1000 - 200, last: '', answered_since: 800 };
  expect(rows(engine('a', 'up', 0, { outages: mended }), engine('b', 'up', 0, { failures: failed }))).toEqual([['a', 'read the log of a']]); // prettier-ignore
});

it('names engines out of service, the worst first, and what helps those that are down', () => {
  const told = (...states: string[]) => {
    const models = (state: string) => (state === 'down' ? ['m', 'n'] : ['m']);
    const engines = states.map((state, at) => ({ id: `e${at}`, state, models: models(state), in_flight: 0, down_since: Date.now() / 1000 - 40 * at, probe_in_seconds: null })); // prettier-ignore
    const { text, helps } = statusWith({ engines });
    return `${text} ${helps}`.trim();
  };
  const drained = (seconds: number) => `has been drained for ${seconds} s: it takes no calls until it is returned to service.`; // prettier-ignore
  expect(told('down', 'drained')).toBe(`0 of 2 engines up for 0 s: each call waits 30 s for one, and then fails. e0 has been down for 0 s (unknown). e1 ${drained(40)} No call waits. What helps: restart or start e0, or correct the url. Also: maitred engines undrain e1.`); // prettier-ignore
  expect(told('down', 'up')).toContain('e0 has been down for 0 s (unknown). Calls for models that no other serves wait or fail meanwhile. 1 of 2 engines up.'); // prettier-ignore
  expect(told('drained', 'draining')).toBe(`0 of 2 engines up for 0 s: new calls fail at once. e0 ${drained(0)} e1 is draining: 0 calls left, no new ones. No call waits. What helps: maitred engines undrain e0. Also: maitred engines undrain e1.`); // prettier-ignore
  const starting = { id: 's', state: 'starting', models: ['m'], in_flight: 0, down_since: null };
  expect(statusWith({ engines: [starting] }).text).toMatch(/^0 of 1 engine up, 1 starting: each call waits 30 s for one, and then fails\. /); // prettier-ignore
  const unknown = { id: 'e', state: 'down', models: [], in_flight: 0 };
  expect(statusWith({ engines: [unknown] }).text).toContain('0 of 1 engine up: new calls fail at once.');
  expect(told('up', 'drained')).toBe(`1 of 2 engines up. e1 ${drained(40)} No call waits.`);
  // Those of very different times are told apart.
  const ages = [725, 12, 9].map((age, at) => ({ id: `e${at}`, state: 'drained', models: ['m'], in_flight: 0, down_since: Date.now() / 1000 - age })); // prettier-ignore
  expect(statusWith({ engines: ages }).text).toMatch(/^0 of 3 engines up for 9 s: .* e0 has been drained for 12 min 5 s: .* e1, e2 have been drained for up to 12 s: /); // prettier-ignore
});

it('warns of an engine that is silent, as soon as that is known', () => {
  const engines = [5, 2].map((in_flight, at) => ({ id: `e${at}`, state: 'up', models: ['m'], in_flight, window: 9, silent_seconds: at === 0 ? 8.2 : null })); // prettier-ignore
  expect(statusWith({ engines })).toMatchObject({
    level: 'warn',
    title: 'e0 silent',
    text: 'e0 has answered no call and no probe for 8.2 s; 5 calls run there. 2 engines up. 7 calls run, none waits.',
    helps: 'What helps: restart e0, or read its log.',
  });
});

it('warns of an overload once more calls have waited than run for half a minute, and names a tenant of most', () => {
  const config = { ...PARTS.config, auth: { keys: ['red', 'blue'].map((tenant) => ({ tenant })) } };
  const told = (seconds: number, ofRed: number, waiting = 9) => {
    const queue = { ...CALM.queue, waiting, longest_wait_seconds: 9, waiting_for: { window: waiting } };
    const views = { waiting, waitingOf: (tenant: string) => (tenant === 'red' ? ofRed : waiting - ofRed) };
    return statusWith({ queue, totals: { crowded_since: Date.now() / 1000 - seconds } }, { config, driver: { views } });
  };
  expect([told(29, 9).level, told(30, 9).level]).toEqual(['good', 'warn']);
  expect(told(45, 5)).toMatchObject({ level: 'warn', title: 'overload', helps: expect.stringMatching(/^What helps: more engines, or fewer calls;/) as string }); // prettier-ignore
  const text = '7 calls run, 9 wait for the window, the longest for 9 s. For 45 s, more calls have waited than run';
  expect([5, 8].map((ofRed) => told(45, ofRed).text)).toEqual([`${text}. 1 engine up.`, `${text}; most that wait are of tenant red. 1 engine up.`]); // prettier-ignore
});

it('tells how many calls clients gave up', () => {
  const { text } = statusWith({ totals: { calls: 190, left: { waiting: 1, running: 0 } } });
  expect(text).toBe('1 engine up. 7 calls run, none waits. Clients gave up 1 call in the last 5 min: 1 that waited, 0 that ran.'); // prettier-ignore
});

it('says how far a batch is, and why it stands still', () => {
  const batch = { id: 'b', request_counts: { total: 3, completed: 1, failed: 0 }, stillMs: 80_000, isLate: false, inFlight: 1, ready: 1 }; // prettier-ignore
  const context = (more: object) => ({ batches: { batches: { underWay: () => [{ ...batch, ...more }] } }, fleet: { list: () => [{ state: 'up' }] } }); // prettier-ignore
  const told = (more: object) => batchRows(context(more) as never).map(batchInShort)[0];
  const still = 'b: 1 of 3 lines, no line has ended for 1 min 20 s';
  expect(told({})).toBe(`${still}: its lines take only the room that other calls leave.`);
  expect(told({ inFlight: 0 })).toBe(`${still}: other batches have all places.`);
  expect(told({ isLate: true })).toBe(`${still.replace(',', ', late,')}.`);
  const failures = { data: [{ line: 2, message: 'No such model.' }] };
  expect(told({ request_counts: { total: 9, completed: 1, failed: 7 } })).toMatch(/^b: 8 of 9 lines, 7 of which failed, no line/); // prettier-ignore
  expect(batchRows(context({ failures, request_counts: { total: 9, completed: 1, failed: 7 } }) as never)[0]?.text).toBe('Line 2 failed: No such model.\nAnd 6 more failed.'); // prettier-ignore
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
    const failed = [{ code: 'no_engine', calls: 7, fault: 'service', last_at: last - 99, last: '' }, { code: 'queue_full', calls: 3, fault: 'service', last_at: last, last: program }]; // prettier-ignore
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
  const whose = ['default:p', 'red:p', 'red~', 'default~', 'red~p'].map((program) => /queue_full(.*); the last one 20 s ago\.$/.exec(told(20, 'up', program).text)?.[1]); // prettier-ignore
  expect(whose).toEqual([' (the last by program "p")', ' (the last by program "p" of tenant red)', ' (the last by tenant red)', '', ' (the last by program "~p" of tenant red)']); // prettier-ignore
  // Also few are told, and are no trouble.
  expect(told(20, 'up', '', { calls: 1001 })).toMatchObject({ level: 'good', text: `1 engine up. No call waits. ${text.replace('99', '1,001')}; the last one 20 s ago.` }); // prettier-ignore
  const theirs = ['unknown_model', 'other'].map((code, at) => ({ code, calls: 5, fault: 'client', last_at: Date.now() / 1000 - 9, last: at === 0 ? 'red~' : '' })); // prettier-ignore
  expect(statusWith({ totals: { calls: 9999, failed: theirs } }).text).toMatch(/5 with unknown_model \(the last by tenant red\), 5 with other; the last one 9 s ago\.$/); // prettier-ignore
  expect(['down', 'drained'].map((state) => told(20, state).title)).toEqual(
    ['no engine, e down', 'no engine, e drained'].map((trouble) => `${trouble}, 10 of 99 calls failed`),
  );
  const [at, engines] = [Date.now() / 1000 - 20, [{ id: 'e', state: 'up', models: [], in_flight: 0, failures: { calls: 1, attempts: 9, answered_since: 0, last_at: 0, last: '' } }]]; // prettier-ignore
  const ofEngines = ['default:p', ''].map((last) => ({ code: 'engine_timeout', calls: 7, fault: 'service', last_at: at, last, engine: 'e' })); // prettier-ignore
  const theEngine = statusWith({ engines, totals: { calls: 99, failed: ofEngines } });
  expect(theEngine.text).toContain(' 7 with engine_timeout (the last by program "p" on e), 7 with engine_timeout (the last on e); '); // prettier-ignore
  expect(theEngine.helps).toBe('What helps: read the log of e.');
  // An outage that is over comes before the failures that came of it.
  const after = statusWith({ engines: [{ ...engines[0], outages: [outage(50, 25, 'reset')] }], totals: { calls: 99, failed: ofEngines } }); // prettier-ignore
  expect([after.text, after.title, after.helps]).toEqual([expect.stringMatching(/^1 engine up\. No call waits\. e was down for 25 s \(reset\), until 25 s ago\. 14 of 99 calls failed/), 'past outage, 14 of 99 calls failed', theEngine.helps]); // prettier-ignore
  // One that fails much, or is down, has its remedy in its own row.
  const fails = { ...engines[0]!.failures, calls: 9, last_at: at };
  const remedyWith = (more: object) => statusWith({ engines: [{ ...engines[0], failures: fails, ...more }], totals: { calls: 99, failed: ofEngines } }).parts.find(({ about }) => about === 'failures')?.remedy; // prettier-ignore
  expect([{}, { state: 'down', down_reason: 'connection refused', was_up: true }].map(remedyWith)).toEqual([
    undefined,
    undefined,
  ]);
  // The remedy of an engine that is down, or of a drain, is that of the failures that come of it.
  const failed = [{ code: 'no_engine', calls: 7, fault: 'service', last_at: Date.now() / 1000, last: '' }];
  expect(statusWith({ totals: { calls: 9, failed } })).toMatchObject({ level: 'warn', helps: '' }); // prettier-ignore
});

it('has the worst that stands in its title, first, and nothing that is over', () => {
  const failed = [{ code: 'queue_full', calls: 7, fault: 'service', last_at: Date.now() / 1000 - 90, last: '' }];
  const totals = { calls: 9, failed };
  const told = (more: object) => statusWith({ totals, ...more }, { reloadRefused: 'bad' });
  expect(told({})).toMatchObject({ level: 'warn', title: 'reload refused' });
  const engines = ['up', 'down', 'down'].map((state, at) => ({ id: `e${at}`, state, models: [], in_flight: 0, down_since: Date.now() / 1000 - 7 - at, down_reason: 'connection refused' })); // prettier-ignore
  expect(told({ engines })).toMatchObject({
    title: 'e1, e2 down, reload refused',
    text: expect.stringMatching(/^e1, e2 have been down for up to 9 s \(connection refused\)\. /) as string,
    helps: 'What helps: start e1, e2, or correct the url. Also: correct the file, and reload it (SIGHUP).',
  });
  // An engine that answers is at its url.
  const reasons = ['answered with status 500, where others answered', 'it is stuck: it has run none of its 3 requests for 9 s', 'GET /health answered 500', 'GET /health answered 404']; // prettier-ignore
  expect(reasons.map((down_reason) => downRemedy({ down_reason, was_up: false }, 'e1'))).toEqual([...Array<string>(3).fill('restart e1, or read its log'), 'restart or start e1, or correct the url']); // prettier-ignore
  expect(downRemedy({ down_reason: 'connection refused', was_up: true }, 'e1')).toBe('start e1');
  const keyed = [{}, { apiKey: 'wrong' }].map((engine) => `/v1/models answered 401${keyFault(engine)}`);
  expect(keyed.map((down_reason) => downRemedy({ down_reason, was_up: true }))).toEqual([expect.stringMatching(/^set engines\[\]\.apiKey: /), expect.stringMatching(/^correct engines\[\]\.apiKey, /)]); // prettier-ignore
});

it('warns of waits for which the scheduler itself makes way, with what helps', () => {
  const told = (longest: number, waiting_for: object, ...states: string[]) => {
    const engines = states.map((state, at) => ({ id: `e${at}`, state, models: ['m'], in_flight: 0, source: state === 'draining' ? null : 'config' })); // prettier-ignore
    return statusWith({ engines, queue: { waiting: 9, background: 0, longest_wait_seconds: longest, waiting_for } });
  };
  expect(told(119, { kv: 9 }, 'up')).toMatchObject({ level: 'good', title: '9 waiting' });
  // An engine that is drained, and may come back, would help.
  expect(told(119, { kv: 9 }, 'up', 'drained').level).toBe('good');
  expect(['draining', 'drained'].map((state) => told(121, { kv: 9 }, 'up', state).title)).toEqual(['long waits', 'e1 drained, long waits']); // prettier-ignore
  expect(told(121, { kv: 9 }, 'up')).toMatchObject({ level: 'warn', title: 'long waits', helps: expect.stringContaining('maitred sim tells how many') as string }); // prettier-ignore
  // The remedy of one that is down is told with it.
  expect(told(121, { kv: 9 }, 'up', 'down').helps).toMatch(/^What helps: restart or start e1, or correct the url\. Also: more engines, or fewer calls;/); // prettier-ignore
  const atOnce = { config: { ...PARTS.config, admission: { reserveMs: 0 } } };
  const queue = { waiting: 1, background: 0, longest_wait_seconds: 29, waiting_for: { kv: 1 } };
  expect(statusWith({ queue }, atOnce).level).toBe('good');
  // An engine is on probation for a moment, and not fully up.
  const back = told(9, { kv: 8, probation: 1 }, 'up', 'probation');
  expect([back.level, back.text]).toEqual(['good', expect.stringMatching(/^1 of 2 engines up, 1 on probation\. 9 calls wait/)]); // prettier-ignore
  expect(told(9, { resting: 9 }, 'up')).toMatchObject({ level: 'warn', title: 'waits for an engine that reported no room', helps: 'What helps: more engines; such a rest takes seconds.' }); // prettier-ignore
});
