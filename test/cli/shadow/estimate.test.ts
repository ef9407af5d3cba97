import { describe, expect, it } from 'vitest';
import type { ShadowSettings } from '../../../cli/shadow/estimate.js';
import { poolsOf, servedOf } from '../../../cli/shadow/pool.js';
import { replaces } from '../../../cli/shadow/thread.js';
import type { ShadowAnswer } from '../../../sidecar/admin/answers.js';
import { DEFAULT_PRESET, PRESETS, fitTraffic } from '../../../sim/index.js';
import { engineId, millis, modelId, tokens, type LogStep, type Tokens } from '../../../src/index.js';
import { readScheduling } from '../../../cli/sim/scheduling.js';
import { WORKLOADS, programs, type AgentProgram } from '../../../workloads/index.js';
import { estimateOf, live, seenOf, settingsOf, twoKinds } from './live.js';

const PROGRAMS = twoKinds(12, 130);
const own = live(PROGRAMS, 'plas');
const passThrough = live(PROGRAMS, 'pass-through');

/** The same steps with changed events. */
const changed = (change: (event: LogStep['event']) => LogStep['event']): LogStep[] =>
  own.steps.map((step) => ({ ...step, event: change(step.event) }));
const doubtOf = (steps: readonly LogStep[]) => estimateOf(steps).map(({ doubt }) => doubt);
const without = <T extends object>(value: T, key: keyof T): T => ({ ...value, [key]: undefined });
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
/** True mean time of the latest of these programs. */
const secondsOf = (
  { programMs }: ReturnType<typeof live>,
  programs: readonly AgentProgram[],
  latest = programs.length,
) => mean(programs.slice(-latest).map(({ id }) => programMs.get(id) ?? NaN)) / 1000;

describe('the estimate of the gain', () => {
  it('has the true gain in its range, and tells how far the simulation is off', () => {
    const [pool] = estimateOf(own.steps);
    const [ownSeconds, passedSeconds] = [own, passThrough].map((world) =>
      secondsOf(world, PROGRAMS, pool?.programs),
    ) as [number, number];
    expect(pool).toMatchObject({ doubt: null, engines: 1, models: ['m'] });
    expect(pool?.replay?.measured_seconds).toBeCloseTo(ownSeconds, 3);
    expect(pool?.replay?.error).toBeLessThan(0.1);
    expect(pool?.gain?.ratio_low).toBeGreaterThan(1);
    expect(pool?.gain?.ratio_low).toBeLessThan(passedSeconds / ownSeconds);
    expect(pool?.gain?.ratio_high).toBeGreaterThan(passedSeconds / ownSeconds);
  });

  it('holds where answers come in one burst', () => {
    const bursts = own.steps.flatMap((step): LogStep[] => {
      const { now, event } = step;
      if (event.type === 'callStarted') return [{ ...step, event: { type: 'woke' } }];
      if (event.type !== 'callFinished') return [step];
      return [{ now, event: { type: 'callStarted', call: event.call }, commands: [] }, step];
    });
    expect(estimateOf(bursts)[0]?.replay?.error).toBeLessThan(0.1);
  });

  it('tells the time of calls outside the engine', () => {
    const outsideMs = (moreMs: number) => {
      const [pool] = poolsOf(seenOf(own.steps));
      const calls = servedOf(pool!).map((each) =>
        each.map((call) => ({ ...call, dispatchedMs: call.dispatchedMs - moreMs })),
      );
      return fitTraffic(PRESETS[DEFAULT_PRESET], calls, pool!.nowMs)?.outsideMs ?? NaN;
    };
    expect(outsideMs(0)).toBeLessThan(50);
    expect(Math.abs(outsideMs(500) - 500)).toBeLessThan(100);
  });

  it('tells no difference where pass-through is in force, nor where the order hardly matters', () => {
    const none = { doubt: 'no_difference', replay: { error: expect.any(Number) as number }, gain: null };
    expect(estimateOf(passThrough.steps, { name: 'pass-through' })).toMatchObject([none]);
    const few = live(twoKinds(1, 60), 'plas');
    expect(estimateOf(few.steps)).toMatchObject([none]);
  });

  it('sees families as the gateway did, and not wherever engines found a common prefix cached', () => {
    // Each program alone has its text, as far as the gateway can tell; the engines find the first 640 tokens cached.
    const firsts = new Map<string, string>();
    const cached = (family?: { id: number; tokens: Tokens }) =>
      changed((event) => {
        if (event.type === 'engineJoined') return { ...event, capacityTokens: tokens(30_000) };
        if (event.type === 'callArrived') {
          if (!firsts.has(event.program)) firsts.set(event.program, event.call);
          return { ...event, ...(family && { family }) };
        }
        if (event.type !== 'callFinished' || event.usage === undefined) return event;
        const isFirst = [...firsts.values()].includes(event.call);
        return isFirst ? { ...event, usage: { ...event.usage, cachedTokens: tokens(640) } } : event;
      });
    const [alone, shared] = [cached(), cached({ id: 1, tokens: tokens(640) })].map((steps) => estimateOf(steps)[0]);
    expect(alone?.replay?.simulated_seconds).toBeGreaterThan(shared?.replay?.simulated_seconds ?? NaN);
  });

  it('knows engines that are the simulator’s own, however few calls at a time they ran', () => {
    const four = settingsOf(4);
    const { steps } = live(PROGRAMS, 'plas', four, PRESETS[DEFAULT_PRESET]);
    const known = { ...four, embedded: seenOf(steps).engines.map(({ engine }) => engine) };
    const [pool] = estimateOf(steps, {}, known);
    expect(pool?.doubt).toBeNull();
    expect(pool?.replay?.error).toBeLessThan(0.02);
    // Other engines than they are known as: the error tells.
    expect(estimateOf(live(PROGRAMS, 'plas', four).steps, {}, known)).toMatchObject([{ doubt: 'model_differs' }]);
  });

  it.each([
    [0, 1],
    [0, 3],
    [150, 1],
    [150, 3],
    [400, 1],
    [400, 2],
    [400, 3],
  ])('tells no range without the truth where a busy machine holds calls up, by %s ms (seed %s)', (outsideMs, seed) => {
    const preset = { ...PRESETS[DEFAULT_PRESET], kvTokens: 40_000, maxModelLen: 40_000 };
    const settings = readScheduling().config;
    const all = programs(WORKLOADS.react, seed)[Symbol.iterator]();
    const agents = Array.from({ length: 80 }, (_, at) => ({
      ...all.next().value,
      arrivalMs: 150 * at,
    }));
    const [busy, passed] = [
      live(agents, 'plas', settings, preset, outsideMs),
      live(agents, 'pass-through', settings, preset, outsideMs),
    ];
    const known: ShadowSettings = { ...settings, embedded: ['e0'] };
    const [pool] = estimateOf(busy.steps, {}, known);
    const truth = secondsOf(passed, agents) / secondsOf(busy, agents);
    expect(pool?.programs).toBe(agents.length);
    // Where calls are held up for long, the engine is hardly what programs wait for.
    expect(pool?.doubt).toBe(outsideMs > 150 ? 'no_difference' : null);
    expect(pool?.gain?.ratio_low ?? 0).toBeLessThan(truth);
    expect(pool?.gain?.ratio_high ?? Infinity).toBeGreaterThan(truth);
    // Little is left of the range that the error widens.
    expect(pool?.replay?.error).toBeLessThan(0.2);
  });

  it('delays each simulated call between the gateway and its engine', () => {
    const [, two] = twoKinds(1, 1);
    const msOf = (outsideMs: number) =>
      live([two!], 'plas', settingsOf(4), PRESETS[DEFAULT_PRESET], outsideMs).programMs.get(two!.id) ?? NaN;
    expect(msOf(400) - msOf(0)).toBeCloseTo(800, 3);
  });

  it('is withheld where its model could not be trusted, and says why', () => {
    const sizeless = changed((event) => (event.type === 'engineJoined' ? without(event, 'capacityTokens') : event));
    expect(estimateOf(own.steps, { foresight: 'declared' })).toMatchObject([{ doubt: 'foresight' }]);
    expect(doubtOf(sizeless)).toEqual(['capacity_unknown']);
    expect(doubtOf(live(twoKinds(2, 15), 'plas').steps)).toEqual(['few_programs']);
    // With always four calls at a time, nothing tells how fast thirty would be.
    const four = settingsOf(4);
    expect(estimateOf(live(PROGRAMS, 'plas', four).steps, {}, four)).toMatchObject([{ doubt: 'beyond_seen' }]);
    const uncounted = changed((event) =>
      event.type === 'callFinished' && event.usage ? { ...event, usage: without(event.usage, 'cachedTokens') } : event,
    );
    expect(doubtOf(uncounted)).toEqual(['cache_unknown']);
    let ends = 0;
    const lost = changed((event) =>
      event.type === 'callFinished' && (ends += 1) % 5 === 0
        ? { type: 'callFailed', call: event.call, failure: 'refused' }
        : event,
    );
    expect(doubtOf(lost)).toEqual(['unanswered']);
    expect(doubtOf(own.steps.filter(({ now }) => now < 70_000))).toEqual(['unfinished']);
    const other = { type: 'engineJoined', engine: engineId('small'), models: [modelId('m')] } as const;
    const joins = { now: millis(0), event: { ...other, capacityTokens: tokens(1000) }, commands: [] };
    expect(doubtOf([joins, ...own.steps])).toEqual(['engines_differ']);
    const full = { ...four, limits: { ...four.limits, queuedMax: 1 } };
    expect(estimateOf(own.steps, {}, full)).toMatchObject([{ doubt: 'refused' }]);
  });

  it('is withheld when programs took a different time than the model says', () => {
    // Each program first waits for something that is not in the model.
    const known = new Set<string>();
    const slow = own.steps.flatMap(({ now, event, commands }): LogStep[] => {
      if (event.type !== 'callArrived' || known.has(event.program)) return [{ now, event, commands }];
      known.add(event.program);
      const early = { now: millis(Math.max(0, now - 60_000)), event, commands: [] };
      return [early, { now, event: { type: 'woke' }, commands }];
    });
    const steps = slow.toSorted((a, b) => a.now - b.now);
    const [pool] = estimateOf(steps);
    expect(pool).toMatchObject({ doubt: 'model_differs', gain: null });
    // Against itself `pass-through` gains nothing, however far off the model is.
    expect(estimateOf(steps, { name: 'pass-through' })).toMatchObject([{ doubt: 'no_difference', gain: null }]);
    expect(pool?.replay?.simulated_seconds).toBeLessThan(pool?.replay?.measured_seconds ?? NaN);
  });
});

describe('the window', () => {
  it('begins anew when an engine comes or goes, not when it is announced again', () => {
    const middle = Math.floor(own.steps.length / 2);
    const now = own.steps[middle]!.now;
    const join = own.steps.find(({ event }) => event.type === 'engineJoined')!;
    const sinceMs = (event: LogStep['event']) =>
      seenOf([...own.steps.slice(0, middle), { now, event, commands: [] }, ...own.steps.slice(middle)]).sinceMs;
    expect(sinceMs(join.event)).toBe(0);
    expect(sinceMs({ ...join.event, engine: engineId('new') } as LogStep['event'])).toBe(now);
    expect(sinceMs({ type: 'engineLost', engine: engineId('e0') })).toBe(now);
  });

  it('keeps the latest time and calls, with those that have not ended', () => {
    const steps = own.steps.slice(0, own.steps.length / 2);
    const { ended, open, sinceMs, nowMs } = seenOf(steps, { windowMs: 20_000 });
    expect(sinceMs).toBeGreaterThanOrEqual(nowMs - 20_000);
    expect(ended.every(({ endedMs }) => endedMs >= sinceMs)).toBe(true);
    expect(open.length).toBeGreaterThan(0);
    const all = seenOf(steps).ended;
    expect(ended).toEqual(all.slice(-ended.length));
    expect(seenOf(steps, { callsMax: 10 })).toMatchObject({ ended: all.slice(-10), sinceMs: all.at(-11)?.endedMs });
  });

  it('leaves background calls out', () => {
    const background = changed((event) => (event.type === 'callArrived' ? { ...event, background: true } : event));
    expect(seenOf(background)).toMatchObject({ ended: [], open: [] });
  });
});

const answer = (made_at: number, doubt: ShadowAnswer['pools'][number]['doubt']) =>
  ({ made_at, pools: [{ doubt }] }) as unknown as ShadowAnswer;

it.each([
  ['the first', undefined, answer(1000, 'few_programs'), true],
  ['another of too few programs', answer(1000, 'few_programs'), answer(1060, 'few_programs'), true],
  ['too few programs after a doubt', answer(1000, 'unfinished'), answer(1060, 'few_programs'), true],
  ['another doubt', answer(1000, 'model_differs'), answer(1060, 'unfinished'), true],
  ['a doubt after a figure', answer(1000, null), answer(1060, 'unfinished'), false],
  ['no difference after a figure', answer(1000, null), answer(1060, 'no_difference'), true],
  ['a later figure', answer(1000, null), answer(1060, null), true],
  ['a doubt that covers nothing of the figure', answer(1000, null), answer(1901, 'model_differs'), true],
  ['too few programs, however late', answer(1000, null), answer(9000, 'few_programs'), false],
])('an estimate is shown: %s', (_, last, next, isShown) => {
  expect(replaces(last, next)).toBe(isShown);
});
