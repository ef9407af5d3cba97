import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { makeBalancer } from '../../../loadbalancer/index.js';
import {
  callId,
  engineId,
  millis,
  Scheduler,
  WAIT_CAUSES,
  type CallView,
  type WaitCause,
  type WaitView,
} from '../../../src/index.js';
import { PRESETS, runWorld } from '../../../sim/index.js';
import { configSchema } from '../../../sidecar/config/index.js';
import { programs, WORKLOADS } from '../../../workloads/index.js';
import { mayHold, mayRetry } from '../../support/core-book.js';
import { Desk, use } from '../../support/core-desk.js';
import { cancelled, joined, lost, sized, woke } from '../../support/core-events.js';
import { play, type Moment } from '../../support/core-play.js';

type Waiting = NonNullable<CallView['waiting']>;

const waitingOf = (scheduler: Scheduler, call: string): Waiting | undefined =>
  scheduler.views.call(callId(call))?.waiting;

/** Whether the cause is true, by what a driver knows. */
function isTrue(nearest: WaitView, id: string, { book, scheduler, nowMs, config }: Moment): boolean {
  const call = book.calls.get(id)!;
  const up = book.serving(call.model);
  const engine = book.engines.get(nearest.engine ?? '');
  const view = nearest.engine && scheduler.views.engine(nearest.engine);
  const { needs = 0, free = 0, limit = 0 } = nearest;
  switch (nearest.cause) {
    case 'no_engine':
      return up.length === 0;
    case 'retry':
      return call.failedOn.size > 0 && nearest.untilMs === call.retryAtMs;
    case 'refused':
    case 'resting':
      return mayHold(call, engine!, nowMs) && nowMs < nearest.untilMs!;
    case 'probation':
      // An engine that has refused newcomers tries one of them at a time.
      return engine === undefined
        ? up.every((each) => !mayRetry(call, each, Infinity) || mayHold(call, each, nowMs))
        : engine.probation;
    case 'window':
      return view !== undefined && limit === view.window && view.inFlight >= view.window && free < needs;
    case 'kv':
      return view !== undefined && config.admission.gate > 0 && view.inFlight > 0 && needs > free;
    case 'turn':
      // Turns of tenants change with time alone.
      if (nearest.behind === undefined && config.policy.tenants !== 'none') return true;
      return nearest.ahead > 0 && book.calls.get(nearest.behind?.call ?? '')?.state === 'waiting';
    case 'knee':
      return view !== undefined && view.inFlight > 0 && config.admission.batching === 'knee';
    case 'background':
      return false;
  }
}

/** Removes what the call waits for. */
function remove(
  { cause, engine = engineId('new'), behind, untilMs }: WaitView,
  id: string,
  { book, scheduler, nowMs }: Moment,
): void {
  const { model } = book.calls.get(id)!;
  const { models = [model], windowMax, capacityTokens } = book.engines.get(engine) ?? {};
  const join = (window?: number, capacity?: number) =>
    joined(engine, { models, ...(window && { window }), ...(capacity && { capacity }) });
  switch (cause) {
    case 'window':
      return void scheduler.step(join(1_000, capacityTokens), millis(nowMs));
    case 'kv':
      return void scheduler.step(join(windowMax, 1e6), millis(nowMs));
    case 'no_engine':
      return void scheduler.step(join(), millis(nowMs));
    case 'probation':
      return void scheduler.step(join(windowMax, capacityTokens), millis(nowMs));
    case 'turn':
      return void scheduler.step(cancelled(behind!.call), millis(nowMs));
    case 'retry':
    case 'refused':
    case 'resting':
    case 'knee':
    case 'background':
      return void scheduler.step(woke, untilMs!);
  }
}

/** Ends a sequence early. */
class Enough extends Error {}

describe('why a call waits', () => {
  it('is one true cause for each waiting call, in random worlds', () => {
    const seen = new Map<WaitCause, number>();
    for (let seed = 0; seed < 100; seed += 1)
      play({
        seed,
        without: ['configure'],
        onMoment(moment) {
          const { scheduler, book } = moment;
          const waits = new Map(scheduler.views.waits());
          assert.deepEqual(
            [...waits.keys()].sort(),
            book
              .waiting()
              .map(({ id }) => id)
              .sort(),
          );
          for (const [id, wait] of waits) {
            assert.ok(isTrue(wait, id, moment), `sequence ${seed}, ${id}: ${JSON.stringify(wait)}`);
            seen.set(wait.cause, (seen.get(wait.cause) ?? 0) + 1);
          }
          const { waiting, byCause } = scheduler.views.queue();
          assert.deepEqual(Object.keys(byCause), [...WAIT_CAUSES]);
          assert.equal(
            Object.values(byCause).reduce((sum, calls) => sum + calls, 0),
            waiting,
          );
          const causes = scheduler.views.causesOf([...book.calls.keys()].map(callId));
          assert.deepEqual([...causes].sort(), [...waits].map(([id, { cause }]) => [id, cause]).sort());
          for (const cause of WAIT_CAUSES)
            assert.equal([...causes.values()].filter((each) => each === cause).length, byCause[cause]);
        },
      });
    // A batch is weighed only once much was learnt: see below.
    for (const cause of WAIT_CAUSES.filter((each) => each !== 'knee' && each !== 'background'))
      assert.ok((seen.get(cause) ?? 0) > 15, `only ${seen.get(cause)} calls waited for ${cause}`);
  });

  it('is another, or none, once the named obstacle is removed', () => {
    const removed = new Map<WaitCause, number>();
    for (let seed = 0; seed < 900; seed += 1)
      playUntil(seed, (moment) => {
        const timesOf = (cause: WaitCause) => removed.get(cause) ?? 0;
        const waiting = [...moment.scheduler.views.waits()].sort(([, a], [, b]) => timesOf(a.cause) - timesOf(b.cause));
        if (waiting[0] === undefined) return false;
        const [id, { cause }] = waiting[0];
        const before = waitingOf(moment.scheduler, id)!.nearest;
        remove(before, id, moment);
        removed.set(cause, timesOf(cause) + 1);
        const now = waitingOf(moment.scheduler, id)?.nearest;
        // A probe after a rest begins another.
        const isAnother = (cause === 'resting' || cause === 'refused') && now?.untilMs !== before.untilMs;
        const isSame = now?.cause === cause && now.engine === before.engine && now.behind?.call === before.behind?.call;
        assert.ok(!isSame || isAnother, `sequence ${seed}, ${id}: ${JSON.stringify([before, now])}`);
        return true;
      });
    for (const cause of WAIT_CAUSES.filter((each) => each !== 'knee' && each !== 'background'))
      assert.ok((removed.get(cause) ?? 0) > 2, `${cause} was removed only ${removed.get(cause)} times`);
  });

  it('is the knee, where a call would slow the others too much', () => {
    const config = configSchema.parse({});
    const scheduler = new Scheduler(config, makeBalancer(config.balancer));
    const heldMs: number[] = [];
    let steps = 0;
    runWorld({
      programs: programs(WORKLOADS.mixed, 1),
      maxPrograms: 300,
      arrivals: { type: 'open', ratePerSecond: 1.2, cv: 1 },
      seed: 1,
      engines: 1,
      engine: { preset: PRESETS['llama-3.1-8b-a100'], blockSize: 16 },
      scheduler: () => ({
        totals: scheduler.totals,
        step(event, nowMs) {
          const commands = scheduler.step(event, nowMs);
          steps += 1;
          // Those behind the held call wait for their turn.
          if (steps % 512 === 0)
            for (const [, { cause, untilMs }] of scheduler.views.waits())
              if (cause === 'knee') heldMs.push(untilMs! - nowMs);
          return commands;
        },
      }),
      observer: { programEnded: () => undefined },
      alone: false,
    });
    expect(heldMs.length).toBeGreaterThan(5);
    expect(Math.min(...heldMs)).toBeGreaterThan(0);
  });
});

describe('a waiting call', () => {
  const ONE = { admission: { gate: 0.5, outputReserveTokens: 0 } };

  it('names the room that is missing, who is ahead, and when it moves to the front', () => {
    const desk = new Desk({ ...ONE, starvation: { waitMsMax: 60_000 } }).with('A', sized(4, 1_000));
    desk.arrive('run', { prompt: 300 });
    desk.arrive('first', { prompt: 400 });
    desk.pass(2_000);
    desk.arrive('second', { prompt: 450 });
    expect(waitingOf(desk.scheduler, 'second')?.nearest).toMatchObject({
      cause: 'kv',
      engine: 'A',
      needs: 450,
      free: 200,
      limit: 500,
      ahead: 1,
      oldestAhead: { call: 'first', waitingMs: 2_000 },
    });
    expect(waitingOf(desk.scheduler, 'second')).toMatchObject({ overdueAtMs: 62_000, promoteAtMs: undefined });
    desk.join('B', sized(4, 1_000));
    expect(desk.dispatchOf('first')?.engine).toBe('B');
    expect(waitingOf(desk.scheduler, 'second')?.nearest).toMatchObject({
      engine: 'A',
      ahead: 0,
      oldestAhead: undefined,
    });
  });

  it('names for each engine what it lacks there, and the nearest of them', () => {
    const desk = new Desk(ONE).with('A', sized(1, 10_000)).with('B', sized(4, 1_000)).with('C', sized(4, 1_000));
    desk.arrive('a', { prompt: 100 });
    desk.arrive('b', { prompt: 300 });
    desk.arrive('c', { prompt: 200 });
    desk.arrive('w', { prompt: 400 });
    const { nearest, engines } = waitingOf(desk.scheduler, 'w')!;
    expect(engines).toMatchObject([
      { engine: 'A', cause: 'window', needs: 1, free: 0, limit: 1 },
      { engine: 'B', cause: 'kv', free: 200 },
      { engine: 'C', cause: 'kv', free: 300 },
    ]);
    expect(nearest).toMatchObject({ engine: 'C', cause: 'kv' });
  });

  it('has room, but an earlier call has it kept', () => {
    const desk = new Desk({ admission: { ...ONE.admission, gate: 1, reserveMs: 100 } }).with('A', sized(8, 1_000));
    desk.arrive('run', { prompt: 600 });
    desk.arrive('big', { prompt: 900 });
    desk.pass(200);
    desk.arrive('small', { prompt: 100 });
    expect(waitingOf(desk.scheduler, 'small')?.nearest).toMatchObject({
      cause: 'turn',
      behind: { call: 'big' },
      ahead: 1,
    });
    expect(waitingOf(desk.scheduler, 'big')?.nearest).toMatchObject({ cause: 'kv', needs: 900, free: 400 });
  });

  it('is not behind one that has no room for its family’s prefix', () => {
    const desk = new Desk({ admission: { gate: 1, outputReserveTokens: 0, forecast: 'none', reserveMs: 100 } }).with(
      'A',
      sized(8, 1_000),
    );
    const ofFamily = { prompt: 450, family: { id: 1, tokens: 400 } };
    desk.serve('taught', ofFamily, { prompt: 450, output: 1, cached: 400 });
    use(desk, 'old', 60_000, 100, 1);
    desk.pass(1_000_000);
    desk.arrive('run', { prompt: 700 });
    desk.arrive('big', { program: 'old', prompt: 900 });
    desk.pass(200);
    desk.arrive('first', ofFamily);
    desk.arrive('small', { program: 'old', thread: 'sub', prompt: 50 });
    expect(waitingOf(desk.scheduler, 'first')?.nearest).toMatchObject({ cause: 'kv', needs: 450 });
    expect(waitingOf(desk.scheduler, 'small')?.nearest).toMatchObject({ cause: 'turn', behind: { call: 'big' } });
  });

  it('has waited until the time that is asked for, for the cause that the last step left', () => {
    const desk = new Desk({ starvation: { waitMsMax: 60_000 } }).with('A', { window: 1 });
    desk.arrive('run');
    desk.arrive('first');
    desk.pass(2_000);
    desk.arrive('second');
    const later = desk.scheduler.views.at(millis(5_000));
    const second = later.call(callId('second'))!;
    expect(second).toMatchObject({ waitingMs: 3_000, waiting: { overdueAtMs: 62_000 } });
    expect(second.waiting!.nearest).toMatchObject({
      cause: 'window',
      oldestAhead: { call: 'first', waitingMs: 5_000 },
    });
    expect(later.program(desk.program('of-first').id)).toMatchObject({ waitingMs: 5_000, waitMsMax: 5_000 });
    expect(later.queue()).toMatchObject({ waiting: 2, byCause: { window: 2 }, longestWaitMs: 5_000 });
    expect(desk.scheduler.views.at(millis(1_000)).queue().longestWaitMs).toBe(2_000);
  });

  it('is refused at a time when no engine is up, and is nobody once it is over', () => {
    const desk = new Desk({ timeouts: { noEngineMs: 1_000 } }).with('A');
    desk.tell(lost('A'));
    desk.arrive('w');
    const waiting = waitingOf(desk.scheduler, 'w')!;
    expect(waiting).toMatchObject({ nearest: { cause: 'no_engine', engine: undefined }, refuseAtMs: 1_000 });
    desk.join('A');
    expect(desk.scheduler.views.call(callId('w'))).toMatchObject({ waiting: undefined, dispatch: { engine: 'A' } });
    desk.finish('w');
    expect(desk.scheduler.views.call(callId('w'))).toBeUndefined();
  });
});

/** Plays a sequence until `act`, asked from some moment on, says that it has acted. */
function playUntil(seed: number, act: (moment: Moment) => boolean): void {
  let moments = 0;
  try {
    play({
      seed,
      without: ['configure'],
      // A fixed window would not widen, and tenants' turns change with every call that begins or ends.
      adjust: (config) => ({
        ...config,
        policy: { ...config.policy, tenants: 'none' },
        admission: { ...config.admission, window: 'auto' },
      }),
      onMoment(moment) {
        moments += 1;
        if (moments > (seed * 7) % 50 && act(moment)) throw new Enough();
      },
    });
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
}
