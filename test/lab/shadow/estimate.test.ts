import { describe, expect, it } from 'vitest';
import { servedCalls } from '../../../lab/shadow/served-calls.js';
import { DEFAULT_PRESET, PRESETS, fitTraffic } from '../../../sim/index.js';
import { engineId, millis, modelId, tokens, type LogStep } from '../../../src/index.js';
import { estimateOf, live, settingsOf, twoKinds, windowOf } from './live.js';

const PROGRAMS = twoKinds(12, 130);
const own = live(PROGRAMS, 'plas');
const fcfs = live(PROGRAMS, 'fcfs');

/** The same steps with changed events. */
const changed = (change: (event: LogStep['event']) => LogStep['event']): LogStep[] =>
  own.steps.map((step) => ({ ...step, event: change(step.event) }));
const doubtOf = (steps: readonly LogStep[]) => estimateOf(steps).map(({ doubt }) => doubt);
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('the estimate of the gain', () => {
  it('is that of a real run under fcfs, and its model that of the real engine', () => {
    const [pool] = estimateOf(own.steps);
    const ids = PROGRAMS.slice(-(pool?.programs ?? 0)).map(({ id }) => id);
    const meanMs = (times: ReadonlyMap<string, number>) => mean(ids.map((id) => times.get(id) ?? NaN));
    const truth = meanMs(fcfs.programMs) / meanMs(own.programMs);
    expect(pool).toMatchObject({ doubt: undefined, engines: 1, models: ['m'] });
    expect(Math.abs(truth - 1)).toBeGreaterThan(0.1);
    expect((pool?.measuredMs ?? NaN) / meanMs(own.programMs)).toBeCloseTo(1, 3);
    expect(Math.abs((pool?.simulatedMs ?? NaN) / (pool?.measuredMs ?? NaN) - 1)).toBeLessThan(0.1);
    expect(Math.abs((pool?.ratio?.ratio ?? NaN) / truth - 1)).toBeLessThan(0.1);
    expect(pool?.callError).toBeLessThan(0.1);
  });

  it('holds where answers come in one burst', () => {
    const bursts = own.steps.flatMap(({ now, event, commands }): LogStep[] => {
      if (event.type === 'callStarted') return [{ now, event: { type: 'woke' }, commands }];
      if (event.type !== 'callFinished') return [{ now, event, commands }];
      return [
        { now, event: { type: 'callStarted', call: event.call }, commands: [] },
        { now, event, commands },
      ];
    });
    const [pool] = estimateOf(bursts);
    expect(Math.abs((pool?.simulatedMs ?? NaN) / (pool?.measuredMs ?? NaN) - 1)).toBeLessThan(0.1);
  });

  it('tells the time of calls outside the engine', () => {
    const outsideMs = (moreMs: number) => {
      const calls = servedCalls(own.steps).map((each) =>
        each.map((call) => ({ ...call, dispatchedMs: call.dispatchedMs - moreMs })),
      );
      return fitTraffic(PRESETS[DEFAULT_PRESET], calls, own.steps.at(-1)!.now)?.outsideMs ?? NaN;
    };
    expect(outsideMs(0)).toBeLessThan(50);
    expect(Math.abs(outsideMs(500) - 500)).toBeLessThan(100);
  });

  it('is no gain where fcfs is in force', () => {
    expect(estimateOf(fcfs.steps, 'fcfs')).toMatchObject([{ doubt: undefined, ratio: { ratio: 1, low: 1, high: 1 } }]);
  });

  it('is withheld where its model could not be trusted, and says why', () => {
    const joined = (change: object) =>
      changed((event) => (event.type === 'engineJoined' ? { ...event, ...change } : event));
    expect(doubtOf(joined({ capacityTokens: undefined }))).toEqual(['capacity_unknown']);
    expect(doubtOf(live(twoKinds(2, 20), 'plas').steps)).toEqual(['few_programs']);
    // With always four calls at a time, nothing tells how fast thirty would be.
    const four = settingsOf(4);
    expect(estimateOf(live(PROGRAMS, 'plas', four).steps, 'plas', four)).toMatchObject([{ doubt: 'beyond_seen' }]);
    const uncounted = changed((event) => {
      if (event.type !== 'callFinished' || event.usage === undefined) return event;
      const { promptTokens, outputTokens } = event.usage;
      return { ...event, usage: { promptTokens, outputTokens } };
    });
    expect(doubtOf(uncounted)).toEqual(['cache_unknown']);
    let ends = 0;
    const lost = changed((event) =>
      event.type === 'callFinished' && (ends += 1) % 5 === 0
        ? { type: 'callFailed', call: event.call, failure: 'refused' }
        : event,
    );
    expect(doubtOf(lost)).toEqual(['unanswered']);
    const other = { type: 'engineJoined', engine: engineId('small'), models: [modelId('m')] } as const;
    const joins = { now: millis(0), event: { ...other, capacityTokens: tokens(1000) }, commands: [] };
    expect(doubtOf([joins, ...own.steps])).toEqual(['engines_differ']);
  });

  it('is withheld when programs took a different time than the model says', () => {
    // Each program first waits for something that is not in the model.
    const known = new Set<string>();
    const slow = fcfs.steps.flatMap(({ now, event, commands }): LogStep[] => {
      if (event.type !== 'callArrived' || known.has(event.program)) return [{ now, event, commands }];
      known.add(event.program);
      const early = { now: millis(Math.max(0, now - 30_000)), event, commands: [] };
      return [early, { now, event: { type: 'woke' }, commands }];
    });
    const [pool] = estimateOf(
      slow.toSorted((a, b) => a.now - b.now),
      'fcfs',
    );
    expect(pool).toMatchObject({ doubt: 'model_differs', fcfsMs: undefined, ratio: undefined });
    expect(pool?.simulatedMs).toBeLessThan(pool?.measuredMs ?? NaN);
  });
});

describe('the window', () => {
  it('begins anew when an engine comes or goes, not when it is announced again', () => {
    const at = (index: number) => own.steps[index]!.now;
    const middle = Math.floor(own.steps.length / 2);
    const join = own.steps.find(({ event }) => event.type === 'engineJoined')!;
    const insert = (event: LogStep['event']) => [
      ...own.steps.slice(0, middle),
      { now: at(middle), event, commands: [] },
      ...own.steps.slice(middle),
    ];
    expect(windowOf(insert(join.event)).sinceMs).toBe(0);
    expect(windowOf(insert({ ...join.event, engine: engineId('new') } as LogStep['event'])).sinceMs).toBe(at(middle));
    expect(windowOf(insert({ type: 'engineLost', engine: engineId('e0') })).sinceMs).toBe(at(middle));
  });

  it('keeps the latest time and calls, with the calls that were open at its start', () => {
    const window = windowOf(own.steps, { windowMs: 20_000 });
    const endMs = own.steps.at(-1)!.now;
    expect(window.sinceMs).toBeLessThanOrEqual(endMs - 20_000 + 3000);
    const arrivals = window.steps.filter(({ event }) => event.type === 'callArrived');
    expect(arrivals.some(({ now }) => now === window.sinceMs)).toBe(true);
    const few = windowOf(own.steps, { callsMax: 10 });
    const late = few.steps.filter(({ event, now }) => event.type === 'callArrived' && now > few.sinceMs);
    expect(late.length).toBeLessThanOrEqual(10);
  });
});
