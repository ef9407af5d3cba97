import { expect, it } from 'vitest';
import { dispatchInWords, whyEnded } from '../../../sidecar/admin/run-words.js';
import { callInWords, type Setting } from '../../../sidecar/admin/words.js';
import type { CallView, EngineView } from '../../../src/index.js';

const ENGINE = {
  id: 'e',
  inFlight: 2,
  idleTokens: 300,
  workingSetTokens: 900,
  whole: { inFlight: 2 },
  othersInFlight: 2,
};
const WAIT = { cause: 'kv', engine: 'e', needs: 200, free: 100, limit: 1000, ahead: 0 };

interface Case {
  readonly call?: object;
  readonly nearest?: object;
  readonly waiting?: object;
  readonly engine?: object;
  readonly queues?: boolean;
  readonly expected?: object;
  readonly holders?: readonly object[];
  readonly failures?: readonly object[];
  readonly busySinceMs?: number;
  readonly troubles?: readonly object[];
}

/** What is said of a call that waits, first in line, for KV cache of an engine. */
function told({
  call,
  nearest,
  waiting,
  engine,
  queues = false,
  expected,
  holders = [],
  failures = [],
  busySinceMs,
  troubles = [],
}: Case = {}): string {
  const view = {
    call: 'c-1',
    program: 'default:p',
    thread: '',
    model: 'm',
    level: 2,
    waitingMs: 5000,
    arrivedAtMs: -5000,
    serviceAtArrivalMs: 0,
    promptTokens: 120,
    reservedTokens: 80,
    waiting: { nearest: { ...WAIT, ...nearest }, engines: [], ...waiting },
    ...call,
  };
  const setting = {
    now: 0,
    levels: 8,
    policy: 'plas',
    order: 'attained',
    balancer: 'sticky',
    forecast: undefined,
    expected: { of: () => expected },
    engine: () => ({ ...ENGINE, ...engine }) as unknown as EngineView,
    holders: () => holders,
    queues: () => queues,
    troubleAt: (id: string) => (id === 'e' ? undefined : { text: `is ${id}.`, downMs: id === 'down' ? 1 : undefined }),
    timeouts: { idleMs: 9000, firstByteMs: 60_000, busyMs: 60_000 },
    failures: () => ({ last: failures, busySinceMs }),
    troubles: () => troubles,
  };
  return callInWords(view as unknown as CallView, setting as unknown as Setting);
}

it('says who holds the room that a call waits for', () => {
  expect(told()).toContain(
    '2 calls in flight hold 600, contexts of programs that are expected to return 300, of a gate of 1,000 tokens.',
  );
  const holders = [1, 2, 3, 4].map((at) => ({
    program: `default:h${at}`,
    tokens: 100 * at,
    arrivedAtMs: [-6000, -4000 + at],
  }));
  const most =
    'Most tokens in flight there: "h4" (2 calls, 400 tokens), "h3" (2 calls, 300 tokens), "h2" (2 calls, 200 tokens). 4 calls there arrived after it.\n';
  for (const cause of ['kv', 'window']) expect(told({ nearest: { cause }, holders })).toContain(most);
  expect(told({ nearest: { cause: 'turn' }, holders })).not.toContain('Most');
  expect(told({ engine: { inFlight: 1 }, holders })).toContain('Most tokens in flight there of this gateway: ');
  // Idle contexts make way for a call that has waited long: they do not count.
  expect(told({ nearest: { free: 400 }, engine: { whole: { inFlight: 1 } } })).toContain(
    '400 are free: 1 call in flight holds 600 of a gate',
  );
});

it.each([
  [200, '(prompt about 120, room for its answer 80)'],
  [250, '(prompt about 120, room for its answer 80, growth of its context 50)'],
  [150, '(prompt about 120, room for its answer 80, of which 50 are there already)'],
])('says what a call needs its %i tokens for', (needs, parts) => {
  expect(told({ nearest: { needs } })).toContain(`It needs ${needs} tokens ${parts}, and 100 are free`);
});

it('says that calls began before the window shrank', () => {
  const nearest = { cause: 'window', free: -2, limit: 14 };
  const text = told({ nearest, waiting: { engines: [{ ...WAIT, ...nearest, engine: 'f' }] } });
  expect(text).toContain('e has 16 calls in flight, begun when its window was larger: it is 14 now.');
  expect(text).toContain('f (the window: 16 calls, begun when it was above 14)');
});

it('says of a running call whose prompt no engine takes that it is to be refused', () => {
  const dispatch = { engine: 'e', level: 0, reason: 'direct', placement: 'spread', queueMs: 0 };
  const text = told({ call: { waiting: undefined, serviceMs: 5, dispatch, oversized: true } });
  expect(text).toMatch(/\. No engine takes so long a prompt: e is to refuse it at once\.$/);
});

it('says what ends a running call whose engine is down, and that one is silent', () => {
  const on = (engine: string, more = {}) =>
    told({ call: { waiting: undefined, serviceMs: 5000, dispatch: { engine, level: 0 }, ...more } });
  expect(on('down')).toContain(
    '\ndown is down.\nNo byte of its answer has come: it is cut in 55 s (timeouts.firstByteMs).\n',
  );
  expect(on('down', { startedAtMs: -1000 })).toContain('\nIt is cut after 9 s of silence (timeouts');
  expect(on('silent')).toMatch(/^Call c-1 of program "p" has run for 5 s on silent\.\nsilent is silent\.\n(?!No byte)/);
});

it('advises a larger window only for an engine in which no calls wait', () => {
  const nearest = { cause: 'window', free: 0, limit: 5 };
  expect(told({ nearest })).toContain('What helps: more engines, or a larger engines[].window if it could take more.');
  expect(told({ nearest, queues: true })).toContain('What helps: more engines, as calls wait inside e already.');
});

it('says who is the first ahead of it', () => {
  const ahead = { ahead: 1, oldestAhead: { call: 'c-0', program: 'default:q', waitingMs: 9000 } };
  expect(told({ nearest: ahead })).toContain(' 1 call is ahead of it: c-0 of program "q", which has waited 9 s.\n');
});

it.each([
  [378_000, 155_000, 'In 2 min 35 s it is overdue'],
  [155_000, 378_000, 'In 2 min 35 s at the latest it goes ahead'],
])('tells only the earlier of two ways to the front (%i, %i)', (promoteAtMs, overdueAtMs, expected) => {
  const waits = { p50Ms: 9000, p90Ms: 160_000 };
  const text = told({ waiting: { promoteAtMs, overdueAtMs }, expected: waits });
  expect(text).toContain(expected);
  expect(text).toContain('half ended within 9 s more.');
  expect(told({ waiting: { promoteAtMs: 170_000 }, expected: waits })).toContain(
    'more, nine of ten within 2 min 40 s.',
  );
  expect(text).not.toContain('6 min');
});

it('says of a call that may leave its home that the others have no room yet, and of others that they have none', () => {
  const engines = [WAIT, { ...WAIT, engine: 'f' }];
  const leaving = told({ call: { engine: 'e', mayLeave: true }, waiting: { engines } });
  expect(leaving).toContain(
    '\nIt need not wait for its home, e, any more; the others cannot take it either: f (KV cache: ',
  );
  expect(leaving).not.toContain('No other engine');
  expect(told({ call: { engine: undefined, mayLeave: true }, waiting: { engines } })).toContain(
    '\nNo other engine can',
  );
  expect(told({ waiting: { engines } })).toContain('\nNo other engine can take it: f (');
});

it.each([
  ['balancer', undefined, 'which sticky chose'],
  ['balancer', 12_000, 'which sticky chose; in 12 s others may take it'],
  ['request', undefined, 'which its request needs'],
  ['failure', undefined, 'which sticky chose of those that have not failed it'],
])('says why a call waits for one engine, and until when (%s, %s)', (boundBy, leaveAtMs, why) => {
  expect(told({ call: { engine: 'e', mayLeave: false, boundBy }, waiting: { leaveAtMs } })).toContain(
    `\nIt waits for e alone, ${why}.\n`,
  );
});

it('says what failed a call that another engine is to run, and names none that its request excludes', () => {
  const failures = [{ engine: 'f', message: 'status 500', atMs: -9000 }];
  const troubles = [{ id: 'f', text: 'is drained.', remedy: 'maitred engines undrain f' }];
  const retried = told({ call: { engine: 'e', mayLeave: false, boundBy: 'failure' }, failures, troubles });
  expect(retried).toContain('\nIts last attempt, on f, failed 9 s ago: status 500.\nf serves "m" and is drained.\n');
  expect(retried).toMatch(/\nWhat helps: maitred engines undrain f; else more KV cache/);
  expect(told({ call: { engine: 'e', mayLeave: false, boundBy: 'request' }, troubles })).toMatch(
    /\nWhat helps: more KV cache/,
  );
  expect(told({ call: { boundBy: 'balancer' }, troubles })).toMatch(
    /\nWhat helps: maitred engines undrain f; else more KV cache/,
  );
});

it('says of an overdue call that it is first in line, for which idle contexts make way', () => {
  expect(told({ call: { overdue: true } })).toContain(
    'it is first in line, and idle contexts make way for it, a call at a time (admission.turnMs).',
  );
});

it('says of a line of a batch alone what its batch does', () => {
  const bound = (more: object) =>
    told({
      call: { engine: 'e', mayLeave: false, boundBy: 'request', background: true, ...more },
      waiting: { refuseAtMs: 30_000 },
    });
  const line = bound({ program: 'default:batch_0123456789abcdef01234567.12' });
  expect(line).toContain('\nIt waits for e alone, where its batch has sent lines that begin alike.\n');
  expect(line).toContain('\nIt is refused in 30 s if it still waits then; its batch sends it again.\n');
  expect(bound({})).toContain('\nIt is refused in 30 s if it still waits then.\n');
});

it('says when a call that engines refuse for lack of room is refused, if that is before it has waited too long', () => {
  const waiting = { refuseAtMs: 1_766_000, overdueAtMs: 30_000 };
  const refused = (busySinceMs: number) => told({ nearest: { cause: 'resting' }, waiting, busySinceMs });
  expect(refused(-34_000)).toContain('\nIt is refused in 26 s if engines have no room for it then.\n');
  expect(refused(-34_000)).not.toContain('overdue');
  expect(refused(-61_000)).toContain('\nIt is refused in 0 s if engines have no room for it then.\n');
  expect(refused(1_800_000)).toContain('\nIt is refused in 29 min 26 s if it still waits then.\n');
});

it.each(['background', 'window', 'kv'])('names no other calls to a background call that is alone (%s)', (cause) => {
  const call = { background: true };
  expect(told({ call, nearest: { cause } })).toContain('What helps: a quieter hour');
  const alone = told({ call, nearest: { cause }, engine: { othersInFlight: 0 } });
  expect(alone).toContain('What helps: more engines, as e runs nothing but background calls.');
});

it('says of a batch’s line that it is done, and of another program that its client declared the end', () => {
  const line = { id: 'batch_0123456789abcdef01234567.12', cause: 'ended' } as const;
  expect([line, { ...line, id: 'task' }, { ...line, cause: 'expired' as const }].map(whyEnded)).toEqual([
    'its line is done',
    'its client said that it was over',
    'it was idle for its lease',
  ]);
});

it('blames no want of room where a call left its home because an engine had failed it', () => {
  const toldOf = (reason: 'queued' | 'retried') =>
    dispatchInWords({ engine: 'e', level: 0, reason, placement: 'spilled' } as never, 'program-affinity').join(' ');
  expect(toldOf('queued')).toContain(
    'home had no room for too long, so program-affinity chose e, which became the home.',
  );
  expect(toldOf('retried')).toMatch(
    /after an engine failed or had no room\. After that program-affinity chose e, which became the home\.$/,
  );
});
