import { describe, expect, it, vi, afterEach } from 'vitest';
import { millis, type EngineId, type IdleProgram, type ProgramGone, type ProgramId } from '../../../src/index.js';
import type { CallReport, CallSpec } from '../../../sidecar/calls/spec.js';
import { Completions } from '../../../sidecar/metrics/completions.js';
import { Told } from '../../../sidecar/watch/known-programs.js';
import { Totals, faultOf } from '../../../sidecar/watch/totals.js';

const CALL = { spec: { identity: { program: 'default:p' } } as CallSpec };
const LINE = { spec: { ...CALL.spec, line: {} } as CallSpec };
afterEach(() => vi.useRealTimers());

describe('totals', () => {
  let nowMs = 0;
  let programs = 0;
  let idle: IdleProgram[] = [];
  let completions: Completions;
  let known: Told | undefined;
  let trouble: string | undefined;
  const now = () => millis(nowMs);
  const totalsOf = (reading = {}) => {
    idle = [];
    completions = new Completions({ idle: () => idle, known: { of: () => known, leaving: () => known }, now });
    return new Totals({ completions, now, reading: () => reading, troubleOf: () => trouble });
  };
  const gone = (durationMs: number, atMs: number) => {
    nowMs = atMs;
    completions.programGone({ program: String((programs += 1)), durationMs } as unknown as ProgramGone);
  };

  it('forget what is older than five minutes, and have a step for each five seconds', () => {
    const totals = totalsOf();
    gone(1000, 1000);
    gone(3000, 6000);
    const { steps, sum, firstMs, stepMs } = totals.read(millis(299_000));
    expect([steps.length, stepMs, firstMs]).toEqual([60, 5000, 0]);
    expect(steps.slice(0, 3).map(({ completions }) => completions.count)).toEqual([1, 1, 0]);
    expect(sum.completions.count).toBe(2);
    expect(totals.read(millis(300_000)).sum.completions.count).toBe(1);
    expect(totals.read(millis(306_000)).sum.completions.quantileMs(0.5)).toBeNull();
  });

  it('tell the 99th percentile within a tenth', () => {
    const totals = totalsOf();
    for (let ms = 1; ms <= 10_000; ms += 1) gone(ms, 0);
    const p99 = totals.read(millis(0)).sum.completions.quantileMs(0.99) ?? 0;
    expect(Math.abs(p99 / 9900 - 1)).toBeLessThan(0.1);
    gone(1e12, 0);
    expect(totals.read(millis(0)).sum.completions.quantileMs(0.99)).toBeLessThan(11_000);
  });

  it('count a program once, at the minute for which it has been idle', () => {
    const [program, idleSinceMs] = ['a' as ProgramId, millis(10_000)];
    const totals = totalsOf();
    idle.push({ program, idleSinceMs, durationMs: millis(4000) });
    const read = (atMs: number) => {
      nowMs = atMs;
      return totals.read(millis(atMs));
    };
    expect(read(69_000).sum.completions.count).toBe(0);
    totals.ended(CALL, { queueMs: 0 } as CallReport, millis(200_000));
    const { steps, sum, firstMs } = read(250_000);
    expect(sum.completions.count).toBe(1);
    expect(steps.findIndex(({ completions }) => completions.count > 0) * 5000 + firstMs).toBe(70_000);
    completions.programGone({ program, durationMs: millis(9000) } as ProgramGone);
    expect(read(251_000).sum.completions.count).toBe(1);
  });

  it('count programs apart whose last call was not answered, until it is', () => {
    const totals = totalsOf();
    const program = 'a' as ProgramId;
    const told = (known = new Told('m', 'user'));
    const counts = (atMs: number) => {
      nowMs = atMs;
      const { completions, unanswered } = totals.read(millis(atMs)).sum;
      return [completions.count, unanswered.count];
    };
    idle = [{ program, idleSinceMs: millis(0), durationMs: millis(4000) }];
    expect(counts(60_000)).toEqual([0, 1]);
    idle = [{ program, idleSinceMs: millis(70_000), durationMs: millis(70_000) }];
    expect(counts(130_000)).toEqual([0, 1]);
    told.isAnswered = true;
    idle = [{ program, idleSinceMs: millis(140_000), durationMs: millis(140_000) }];
    expect(counts(200_000)).toEqual([1, 1]);
    told.isAnswered = false;
    completions.programGone({ program, durationMs: millis(150_000) } as ProgramGone);
    expect(counts(201_000)).toEqual([1, 1]);
    // It was ended before its last call, whose end is told after that of the program.
    completions.programGone({ program, durationMs: millis(10) } as ProgramGone);
    known = undefined;
    told.isAnswered = true;
    expect(counts(202_000)).toEqual([2, 1]);
  });

  it('leave out the times of background calls and programs, which nobody waits for', () => {
    const totals = totalsOf();
    for (const isBackground of [true, false]) {
      known = Object.assign(new Told('m', 'user'), { isBackground });
      gone(1000, 0);
      totals.ended({ spec: { ...CALL.spec, isBackground } }, { queueMs: 9 } as CallReport, millis(0));
    }
    totals.ended(LINE, { queueMs: 9 } as CallReport, millis(0));
    known = undefined;
    const { unanswered, queues } = totals.read(millis(0)).sum;
    expect([unanswered.count, queues.count]).toEqual([1, 1]);
  });

  it('tell how long each engine takes to the first token at all gateways, for five minutes alone', () => {
    const totals = totalsOf();
    nowMs = 0;
    for (const ms of [100, 100, 4000]) totals.began('a' as EngineId, ms);
    totals.began('b' as EngineId, 20);
    const others = [
      JSON.parse(JSON.stringify(totals.read(millis(0)).steps)) as ReturnType<typeof totals.read>['steps'],
    ];
    const times = totals.read(millis(0), '5m', others).sum;
    const of = (engine: string, q: number) => times.firstTokensOf(engine).quantileMs(q);
    expect([of('a', 0.5), of('a', 0.99), of('b', 0.5), of('__proto__', 0.5)]).toEqual([100, 4000, 20, null]);
    expect(times.firstTokensOf('a').count).toBe(6);
    for (const range of ['1h', '1d'] as const)
      expect(Object.keys(totals.read(millis(0), range).sum.firstTokens)).toEqual([]);
    expect(Object.keys(totals.read(millis(300_000)).sum.firstTokens)).toEqual([]);
  });

  it('count the cached share where engines report it', () => {
    const totals = totalsOf();
    const report = (engine: string, cachedTokens?: number) =>
      ({ queueMs: 0, dispatch: { engine }, usage: { promptTokens: 100, cachedTokens } }) as unknown as CallReport;
    for (const each of [report('a', 50), report('a', 100), report('b', 0), report('c')])
      totals.ended(CALL, each, millis(0));
    const { sum } = totals.read(millis(0));
    expect(['a', 'b', 'c'].map((engine) => sum.cached.of(engine))).toEqual([0.75, 0, null]);
    expect(sum.cached.whole).toBe(0.5);
  });

  it('count the attempts that engines failed, of those sent there, but for want of room, and tell the last', () => {
    const totals = totalsOf();
    nowMs = 0;
    const engine = 'a' as EngineId;
    for (let sent = 0; sent < 3; sent += 1) totals.dispatched(CALL.spec, { engine });
    for (const cause of ['answer', 'unreached', 'busy'] as const) totals.engineFailed(CALL.spec, engine, cause, cause);
    const others = [totals.read(millis(0)).steps];
    expect(String(totals.read(millis(0), '5m', others).sum.failures.sumsOf(engine))).toMatch(/^4,6,[\d.]+ unreached$/);
  });

  it('tell a time that few took as it was', () => {
    const totals = totalsOf();
    gone(1450, 1000);
    expect(totals.read(millis(1000)).sum.completions.quantileMs(0.5)).toBe(1450);
  });

  it('count the calls of clients by how they ended, but for those whose clients left, unless their engine was dead by then', () => {
    const totals = totalsOf();
    nowMs = 9000;
    const ends = [
      ['completed', 200],
      ['completed', 200],
      ['client_error', 400],
      ['timed_out', 408, 'queue_timeout'],
      ['cancelled', 499, 'client_gone'],
    ] as const;
    for (const [outcome, status, code] of ends)
      for (const call of [CALL, LINE])
        totals.ended(call, { queueMs: 0, outcome, status, code } as CallReport, millis(0));
    totals.refused(CALL.spec, 'queue_full', millis(0));
    totals.refused(LINE.spec, 'queue_full', millis(0));
    const { sum } = totals.read(millis(0), '5m', [[...Array<never>(59), totals.read(millis(0)).steps.at(-1)!]]);
    const counts = [...sum.ends].map(([end, [calls]]) => [end, calls]);
    expect(counts).toEqual([
      ['completed', 4],
      ['engine_400', 2],
      ['queue_timeout', 2],
      ['queue_full', 2],
    ]);
    const engine = 'gpu-1' as EngineId;
    const left = {
      queueMs: 0,
      outcome: 'cancelled',
      status: 499,
      code: 'client_gone',
      dispatch: { engine },
      wasRunning: true,
      failures: [],
    } as unknown as CallReport;
    const reports = [5000, 7000].map((atMs) => [{ ...left }, millis(atMs)] as const);
    for (const report of reports) totals.ended(CALL, ...report);
    const leftNow = () => ['waiting', 'running'].map((how) => totals.read(millis(nowMs)).sum.left.sumsOf(how)[0]);
    expect(leftNow()).toEqual([2, 2]);
    // Twice, as it goes down again.
    for (let times = 0; times < 2; times += 1) totals.heard({ type: 'engineLost', engine, silentMs: millis(3000) });
    expect(leftNow()).toEqual([2, 1]);
    const message = 'silent for 1 s when the client left, and found down 2 s later';
    const { sum: later } = totals.read(millis(nowMs));
    expect([later.ends.sumsOf('engine_timeout'), later.failures.sumsOf(engine)]).toEqual([
      [1, 1, expect.stringMatching(/^\S+ default:p\ngpu-1$/)],
      [1, 0, expect.stringMatching(` ${message}$`)],
    ]);
    expect(reports.map(([{ outcome, code, failures }]) => [outcome, code, failures])).toEqual([
      ['cancelled', 'client_gone', []],
      ['timed_out', 'engine_timeout', [{ engine, message, fromMs: 7000, atMs: 7000 }]],
    ]);
  });

  it.each([
    [
      'client',
      [
        'invalid_json',
        'unknown_model',
        'unauthorized',
        'budget_exceeded',
        'body_too_large',
        'request_timeout',
        'engine_400',
        'engine_422',
      ],
    ],
    [
      'service',
      [
        'queue_timeout',
        'engine_404',
        'queue_full',
        'overloaded',
        'no_engine',
        'internal',
        'draining',
        'engine_failed',
        'engine_200',
        'engine_401',
        'engine_403',
        'engine_429',
        'engine_500',
      ],
    ],
  ] as const)('know the faults of the %s', (fault, codes) => {
    expect(codes.filter((code) => faultOf(code) !== fault)).toEqual([]);
  });

  it('keep an hour and a day too, in longer steps', () => {
    const totals = totalsOf();
    for (const atMs of [0, 30_000, 59 * 60_000]) gone(1000, atMs);
    const counts = (range: '5m' | '1h' | '1d') =>
      totals.read(millis(nowMs), range).steps.map(({ completions }) => completions.count);
    expect(counts('5m').reduce((sum, each) => sum + each)).toBe(1);
    expect(counts('1h')).toEqual([2, ...Array<number>(58).fill(0), 1]);
    expect(counts('1d').slice(-3)).toEqual([2, 0, 1]);
  });

  it('take the mean of what they read of queues and engines in a step, and leave out what is not known', () => {
    const reading: Record<string, number> = { kv: 4, window: 8 };
    const totals = totalsOf(reading);
    nowMs = 0;
    totals.look();
    delete reading['window'];
    reading['kv'] = 1;
    totals.look();
    const step = totals.read(millis(0)).steps.at(-1)!;
    expect(['kv', 'window', 'never'].map((name) => step.readings.of(name))).toEqual([2.5, 8, null]);
  });

  it('mark engines that go and come back, as long as the range shows them, and keep why', () => {
    const totals = totalsOf();
    const engine = 'gpu-1' as EngineId;
    const marks = (range?: '1h') => totals.read(millis(nowMs), range).marks.map(({ atMs, text }) => [atMs, text]);
    nowMs = 1000;
    totals.heard({ type: 'engineJoined', engine, models: [] });
    trouble = 'it cannot be reached';
    totals.heard({ type: 'engineLost', engine });
    // It may be expected, and is not back.
    totals.heard({ type: 'engineJoined', engine, models: [], down: true });
    nowMs = 3000;
    trouble = 'connection refused';
    // The second time, it tells another capacity.
    for (let times = 0; times < 2; times += 1) totals.heard({ type: 'engineJoined', engine, models: [] });
    trouble = undefined;
    totals.heard({ type: 'engineDrained', engine });
    const outages = () =>
      totals.read(millis(nowMs)).outages.map(({ fromMs, untilMs, reason }) => [fromMs, untilMs, reason]);
    const drained = [3000, undefined, 'drained'];
    expect(outages()).toEqual([[1000, 3000, 'connection refused'], drained]);
    const all = [
      [1000, 'gpu-1 is down'],
      [3000, 'gpu-1 is up again'],
      [3000, 'gpu-1 is draining'],
    ];
    expect(marks()).toEqual(all);
    nowMs = 305_000;
    expect([marks(), marks('1h'), outages()]).toEqual([[], all, [drained]]);
    for (let times = 0; times < 300; times += 1) totals.mark('configuration reloaded');
    expect(marks()).toHaveLength(200);
  });
});
