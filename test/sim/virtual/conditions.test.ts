import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CONDITIONS, conditionsSchema } from '../../../sim/virtual/conditions.js';
import type { Event } from '../../../src/index.js';
import { agentProgram, play, programOf, recorded, stepsOf, type Step } from '../../support/sim-play.js';

const agents = (count = 24) => Array.from({ length: count }, (_, index) => agentProgram(`a${index}`, index * 100));
const OPTIONS = { kvTokens: 40_000 } as const;

interface Given {
  readonly programs?: ReturnType<typeof agents>;
  readonly settings?: object;
  readonly seed?: number;
  readonly engines?: number;
}

/** The agents under conditions, with everything that all schedulers were told. */
function under(conditions: object, { programs = agents(), settings = {}, ...given }: Given = {}) {
  const logs: Step[][] = [];
  const scheduler = () => {
    const { steps, log } = recorded(stepsOf('plas', settings));
    logs.push(log);
    return steps;
  };
  const played = play(programs, { ...OPTIONS, ...given, scheduler, conditions: conditionsSchema.parse(conditions) });
  return { played, logs, log: logs.flat() };
}

const of = <T extends Event['type']>(log: readonly Step[], type: T) =>
  log.flatMap(({ event, now }) => (event.type === type ? [{ ...(event as Extract<Event, { type: T }>), now }] : []));
const dispatchedIn = (log: readonly Step[]) =>
  new Set(log.flatMap(({ commands }) => commands.flatMap((each) => (each.type === 'dispatch' ? [each.call] : []))));
const total = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((sum, one) => sum + one, 0);
const small = { promptTokens: 100, outputTokens: 10 };

/** Failures after which a call is not tried again. */
const ENDS = ['lost', 'refused'];

/** Every request is told once and ends once, unless the gateway restarts first; every call and program ends once. */
function expectConserved({ played, logs }: ReturnType<typeof under>, programs = 24): void {
  const { callOutcomes, retries, callRecords, programRecords } = played;
  expect(programRecords).toHaveLength(programs);
  expect(new Set(programRecords.map(({ program }) => program)).size).toBe(programs);
  expect(new Set(callRecords.map(({ program, call }) => `${program} ${call}`)).size).toBe(callRecords.length);
  const arrived = logs.flatMap((log) => of(log, 'callArrived'));
  expect(new Set(arrived.map(({ call }) => call)).size).toBe(arrived.length);
  expect(arrived.length).toBe(total(callOutcomes) + total(retries));
  logs.forEach((log, life) => {
    const ends = log.flatMap(({ event, commands }) => [
      ...(event.type === 'callFinished' || event.type === 'callCancelled' ? [event.call] : []),
      ...(event.type === 'callFailed' && ENDS.includes(event.failure) ? [event.call] : []),
      ...commands.flatMap((command) => (command.type === 'reject' ? [command.call] : [])),
    ]);
    expect(new Set(ends).size).toBe(ends.length);
    if (life === logs.length - 1)
      expect(new Set(ends)).toEqual(new Set(of(log, 'callArrived').map(({ call }) => call)));
  });
}

describe('a kind world', () => {
  it('is what it always was', () => {
    const kind = { ...OPTIONS, policy: 'pass-through', conditions: CONDITIONS.none } as const;
    const { callRecords, programRecords } = play(agents(), kind);
    const text = JSON.stringify([callRecords, programRecords]).replaceAll('"workload":"","call"', '"call"');
    // Of the engine model alone, since pass-through passes everything on.
    expect(createHash('sha256').update(text).digest('hex').slice(0, 16)).toBe('833b33459ec6e274');
  });

  it('is the same with conditions that never come to anything', () => {
    const names = ['cancels', 'refusals', 'overlong', 'busy', 'broken'];
    const none = Object.fromEntries(names.map((name) => [name, { share: 0 }]));
    const others = { clients: { retries: 2, streamShare: 1 }, engineLoss: {}, gatewayRestarts: { atMs: [] } };
    const never = conditionsSchema.parse({ ...none, ...others });
    expect(play(agents(), { ...OPTIONS, conditions: never })).toEqual(play(agents(), OPTIONS));
  });
});

const EACH = {
  clients: { timeoutMs: 8000, streamShare: 0.3, retries: 5 },
  cancels: { share: 0.2, afterMs: 1000 },
  refusals: { share: 0.1 },
  overlong: { share: 0.05 },
  busy: { share: 0.1, burstMs: 500, restMs: 100 },
  broken: { share: 0.1 },
  engineLoss: { meanMs: 8000, restartMs: 2000 },
  gatewayRestarts: { atMs: [2000, 5000] },
};

describe('conditions', () => {
  it.each([
    ...Object.entries(EACH).map(([name, one]): [string, object] => [name, { clients: {}, [name]: one }]),
    ['all of them', EACH],
  ])('%s: nothing is lost uncounted, and the same seed gives the same bytes', (_, conditions) => {
    const one = under(conditions);
    expectConserved(one);
    expect(one.played).not.toEqual(under({}).played);
    const again = under(conditions);
    expect(JSON.stringify([again.played, again.log])).toBe(JSON.stringify([one.played, one.log]));
  });

  it('draw from streams of their own', () => {
    const solo = Array.from({ length: 60 }, (_, index) => programOf(`s${index}`, index * 100, [small]));
    const cancelledBy = (more: object): string[] => {
      const { played } = under({ cancels: { share: 0.3, afterMs: 0, returnShare: 0 }, ...more }, { programs: solo });
      return played.callRecords.flatMap(({ outcome, program }) => (outcome === 'cancelled' ? [program] : []));
    };
    expect(cancelledBy({}).length).toBeGreaterThan(9);
    expect(cancelledBy({ overlong: { share: 0.1 }, clients: { streamShare: 0.5 } })).toEqual(cancelledBy({}));
    const of = (seed: number) => under({ cancels: { share: 0.3 } }, { seed }).played;
    expect(of(2)).not.toEqual(of(1));
  });
});

describe('clients', () => {
  /** One call that runs, and one that waits for it, a minute and more. */
  const two = [
    programOf('runs', 0, [{ promptTokens: 100, outputTokens: 8000 }]),
    programOf('waits', 1, [{ promptTokens: 100, outputTokens: 10 }]),
  ];
  const narrow = { programs: two, settings: { admission: { window: 1 } }, engines: 1 };

  it('give up after their time and ask again twice, longer apart each time', () => {
    const { log, played } = under({ clients: { timeoutMs: 10_000, retries: 2 } }, { programs: two.slice(0, 1) });
    const asked = of(log, 'callArrived').map(({ now }) => now);
    expect(asked).toHaveLength(3);
    const pauses = [asked[1]! - asked[0]! - 10_000, asked[2]! - asked[1]! - 10_000];
    for (const [at, most] of [500, 1000].entries()) {
      expect(pauses[at]).toBeGreaterThan(0.75 * most);
      expect(pauses[at]).toBeLessThanOrEqual(most);
    }
    expect(of(log, 'callCancelled').map(({ now }) => now)).toEqual(asked.map((at) => at + 10_000));
    expect(played.retries).toEqual({ client_timeout: 2 });
    const ended = { outcome: 'client_timeout', arrivedMs: 0, endedMs: asked[2]! + 10_000, outputTokens: 0 };
    expect(played.callRecords).toEqual([expect.objectContaining(ended)]);
    expect(played.programOutcomes).toEqual({ client_timeout: 1 });
  });

  it('wait as long as it takes where they stream', () => {
    const { played } = under({ clients: { timeoutMs: 10_000, streamShare: 1 } }, narrow);
    expect(played.programOutcomes).toEqual({ completed: 2 });
  });

  it('are seen to begin an answer only where they stream', () => {
    expect(of(under({ clients: {} }).log, 'callStarted')).toEqual([]);
    const some = of(under({ clients: { streamShare: 0.5 } }).log, 'callStarted').length;
    expect(some).toBeGreaterThan(60);
    expect(some).toBeLessThan(180);
  });

  it('ask again when the gateway refuses them, after its Retry-After', () => {
    const settings = { admission: { window: 1 }, limits: { queuedMax: 1 } };
    const three = [...two, programOf('refused', 2, [small])];
    const { log, played } = under({ clients: {} }, { ...narrow, settings, programs: three });
    const asked = of(log, 'callArrived').flatMap(({ program, now }) => (program === 'p2' ? [now] : []));
    expect(asked).toEqual([2, 1002, 2002]);
    expect(played.retries).toMatchObject({ queue_full: 2 });
    expect(played.programOutcomes).toMatchObject({ queue_full: 1 });
  });
});

describe('cancels', () => {
  it('take a call out of the queue or off its engine; some come back, the others end their program', () => {
    const settings = { admission: { window: 2 } };
    const { log, played } = under({ cancels: { share: 0.3, afterMs: 1000, returnShare: 0.5 } }, { settings });
    const cancelled = of(log, 'callCancelled');
    const dispatched = dispatchedIn(log);
    const running = cancelled.filter(({ call }) => dispatched.has(call)).length;
    expect(running).toBeGreaterThan(5);
    expect(cancelled.length - running).toBeGreaterThan(5);
    expect(played.retries['cancelled']).toBeGreaterThan(5);
    expect(played.programOutcomes['cancelled']).toBeGreaterThan(5);
    expect(played.retries['cancelled']! + played.callOutcomes['cancelled']!).toBe(cancelled.length);
    expect(played.engines.reduce((sum, { aborted }) => sum + aborted, 0)).toBe(running);
  });
});

describe('engines', () => {
  it('answer some requests with a 4xx, at once, and their programs go on', () => {
    const { log, played } = under({ refusals: { share: 0.2 } });
    expect(played.programOutcomes).toEqual({ completed: 24 });
    expect(played.retries['client_error']).toBeGreaterThan(30);
    const refused = of(log, 'callFailed').filter(({ failure }) => failure === 'refused');
    expect(refused).toHaveLength(played.retries['client_error']!);
    expect(of(log, 'callCancelled')).toEqual([]);
  });

  it('answer over-long prompts with a 400 once they are dispatched; their programs compact', () => {
    const { log, played } = under({ overlong: { share: 0.1, promptTokens: 500_000 } });
    const long = of(log, 'callArrived').filter(({ promptTokens }) => promptTokens === 500_000);
    expect(long.length).toBeGreaterThan(10);
    expect(played.retries).toEqual({ too_long: long.length });
    expect(played.programOutcomes).toEqual({ completed: 24 });
    expect(long.filter(({ call }) => !dispatchedIn(log).has(call))).toEqual([]);
  });

  it('refuse recorded prompts that are too long themselves; nobody compacts those', () => {
    const large = programOf('large', 0, [{ promptTokens: 890_000, outputTokens: 10 }, small]);
    const { log, played } = under({ overlong: {} }, { programs: [large] });
    expect(of(log, 'callArrived')).toHaveLength(1);
    expect(played.programOutcomes).toEqual({ too_long: 1 });
    expect(of(under({}, { programs: [large] }).log, 'callArrived')).toEqual([]);
  });

  it('are lost with their caches and what runs on them, and come back on probation', () => {
    const losing = { clients: { streamShare: 0.5 }, engineLoss: { atMs: [4000, 4000, 9000], restartMs: 1000 } };
    const { log } = under(losing);
    expect(of(log, 'engineLost').map(({ engine, now }) => [engine, now])).toEqual([
      ['e0', 4000],
      ['e1', 4000],
      ['e0', 9000],
    ]);
    expect(
      of(log, 'engineJoined')
        .slice(2)
        .map(({ engine, now, probation }) => [engine, now, probation]),
    ).toEqual([
      ['e0', 5000, true],
      ['e1', 5000, true],
      ['e0', 7000, undefined],
      ['e1', 7000, undefined],
      ['e0', 10_000, true],
      ['e0', 12_000, undefined],
    ]);
    const failures = new Set(of(log, 'callFailed').map(({ failure }) => failure));
    expect(failures).toEqual(new Set(['broken', 'lost']));
    expect(of(log, 'engineReported').filter(({ now }) => now > 4000 && now < 5000)).toEqual([]);
    const alone = { programs: [agentProgram('a', 0)], engines: 1 };
    const cold = under({ clients: {}, engineLoss: { atMs: [7000], restartMs: 1 } }, alone).played;
    expect(cold.programOutcomes).toEqual({ completed: 1 });
    expect(cold.callRecords.flatMap(({ call, cachedTokens }) => (cachedTokens === 0 ? [call] : []))).toEqual([0, 4]);
  });
});

describe('a gateway that restarts', () => {
  const restarted = { clients: {}, gatewayRestarts: { atMs: [4000] } };

  it('has forgotten everything, and clients ask again', () => {
    const { logs, played } = under(restarted);
    expect(logs).toHaveLength(2);
    expect(logs[1]!.slice(0, 2).map(({ event }) => event.type)).toEqual(['engineJoined', 'engineJoined']);
    expect(played.retries['connection_lost']).toBeGreaterThan(5);
    expect(played.programOutcomes).toEqual({ completed: 24 });
  });

  it('leaves engines their caches', () => {
    const { played } = under(restarted, { programs: [agentProgram('a', 0)], engines: 1 });
    // The call that was cut off finds again what it had computed.
    expect(played.callRecords.slice(1).every(({ cachedTokens }) => cachedTokens > 3500)).toBe(true);
  });
});
