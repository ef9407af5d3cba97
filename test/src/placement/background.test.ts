import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callId } from '../../../src/index.js';
import { Desk, sentOut } from '../../support/core-desk.js';
import { shared } from '../../support/core-events.js';

const LINE = { background: true } as const;
/** Prefill of 100 tokens at 0.1 ms, in a tenth of the time. */
const PACE_MS = 100;

/** One engine with this window. */
function deskOf(window = 4, changes: ConstructorParameters<typeof Desk>[0] = {}): Desk {
  return new Desk(changes).with('A', { window, capacity: 10_000 });
}

describe('background calls', () => {
  it('take an idle engine in order of arrival, twice as many after each round', () => {
    const desk = deskOf(16);
    const sent = (count: number) => desk.log.filter(({ type }) => type === 'dispatch').length === count;
    for (let at = 0; at < 20; at++) desk.arrive(`l${at}`, LINE);
    expect(sent(4)).toBe(true);
    expect(sentOut(desk.finish('l0'))).toEqual(['l4@A', 'l5@A']);
    for (const call of ['l1', 'l2', 'l3']) desk.finish(call);
    expect(desk.engine('A').inFlight).toBe(8);
    // The next call of others lets them begin anew.
    desk.serve('own');
    desk.finish('l4');
    expect(desk.engine('A').inFlight).toBe(7);
  });

  it('come after every other call, however long they wait', () => {
    const desk = deskOf(1, { starvation: { waitMsMax: 1000, beta: 0.001 }, admission: { reserveMs: 500 } });
    desk.arrive('runs');
    for (let at = 0; at < 3; at++) desk.arrive(`l${at}`, LINE);
    desk.pass(50_000);
    desk.arrive('late');
    expect(desk.scheduler.totals).toMatchObject({ promotions: 0, overdue: 0 });
    expect(sentOut(desk.finish('runs'))).toEqual(['late@A']);
    expect(sentOut(desk.finish('late'))).toEqual(['l0@A']);
  });

  it.each([
    [300, { cause: 'kv', needs: 300, free: 250 }],
    [250, { cause: 'turn', behind: undefined }],
  ])('are not ahead of a call that may leave its engine, and that needs %i tokens', (prompt, nearest) => {
    const desk = new Desk({
      balancer: { spillMs: 100 },
      admission: { gate: 1, outputReserveTokens: 0, forecast: 'none' },
    });
    desk.join('A', { window: 1, capacity: 10_000 });
    desk.serve('home', { program: 'p', prompt: 5_000 });
    desk.join('B', { window: 8, capacity: 1_000 });
    desk.arrive('on A', { program: 'p', prompt: 5_000 });
    desk.arrive('on B', { prompt: 740 });
    desk.tell(shared('B', { waitingLevel: -1 }));
    for (let at = 0; at < 3; at++) desk.arrive(`l${at}`, { ...LINE, prompt: 10 });
    desk.arrive('leaves', { program: 'p', prompt });
    desk.pass(200);
    const { waiting } = desk.scheduler.views.call(callId('leaves'))!;
    expect(waiting?.nearest).toMatchObject({ engine: 'B', ahead: 0, oldestAhead: undefined, ...nearest });
  });

  it('beside others leave half of the window, and take a share of the time', () => {
    const desk = deskOf(4);
    desk.arrive('own');
    expect(sentOut(desk.arrive('l1', LINE))).toEqual(['l1@A']);
    desk.arrive('l2', LINE);
    desk.pass(PACE_MS);
    const cause = () => [...desk.scheduler.views.waits()].find(([call]) => call === callId('l2'))?.[1].cause;
    expect([desk.dispatchOf('l2'), cause()]).toEqual([undefined, 'background']);
    expect(sentOut(desk.arrive('next'))).toEqual(['next@A']);
    desk.finish('own');
    desk.finish('next');
    expect(desk.dispatchOf('l2')).toBeDefined();
  });

  it('start nowhere beside others with a share of 0', () => {
    const desk = deskOf(8, { admission: { backgroundShare: 0 } });
    desk.arrive('own');
    desk.arrive('l1', LINE);
    desk.arrive('l2', LINE);
    desk.pass(1e6);
    expect(desk.dispatchOf('l2')).toBeUndefined();
    expect(sentOut(desk.finish('own'))).toEqual(['l2@A']);
  });

  it('leave no claim behind, teach nothing, and fill no queue of others', () => {
    const desk = deskOf(1, { limits: { queuedMax: 1 } });
    desk.arrive('l1', { ...LINE, prompt: 5000 });
    desk.arrive('l2', LINE);
    expect(desk.refusalOf('l2')).toBeUndefined();
    desk.arrive('own');
    expect(desk.refusalOf('own')).toBeUndefined();
    desk.arrive('l3', LINE);
    expect(desk.refusalOf('l3')).toBe('queue_full');
    desk.finish('l1', { prompt: 5000, output: 100 });
    expect(desk.engine('A').workingSetTokens).toBeLessThan(1000);
  });

  it('never start while another call waits for their engine, and all end', () => {
    const step = fc.oneof(
      fc.record({ type: fc.constantFrom('own', 'line'), prompt: fc.integer({ min: 1, max: 4000 }) }),
      fc.record({ type: fc.constant('pass'), ms: fc.integer({ min: 1, max: 500 }) }),
      fc.record({ type: fc.constant('finish'), at: fc.nat() }),
    );
    const settings = fc.record({ window: fc.integer({ min: 1, max: 6 }), share: fc.constantFrom(0, 0.1, 1) });
    fc.assert(
      fc.property(settings, fc.array(step, { maxLength: 60 }), ({ window, share }, steps) => {
        const desk = deskOf(window, { admission: { backgroundShare: share } });
        const active = new Set<string>();
        const isLine = (call: string) => call.startsWith('line');
        const waits = () => [...active].filter((call) => desk.dispatchOf(call) === undefined);
        const check = (sent: readonly string[]): void => {
          if (sent.some(isLine)) expect(waits().filter((call) => !isLine(call))).toEqual([]);
        };
        const finish = (call: string) => {
          active.delete(call);
          check(sentOut(desk.finish(call, { prompt: 10, output: 20 })));
        };
        for (const [index, each] of steps.entries()) {
          const running = [...active].filter((call) => desk.dispatchOf(call) !== undefined);
          if ('prompt' in each) {
            active.add(`${each.type}${index}`);
            check(
              sentOut(desk.arrive(`${each.type}${index}`, { prompt: each.prompt, ...(each.type === 'line' && LINE) })),
            );
          } else if ('ms' in each) check(sentOut(desk.pass(each.ms)));
          else if (running.length > 0) finish(running[each.at % running.length]!);
        }
        for (let left = active.size; left > 0; left = active.size) {
          desk.pass(10_000);
          const running = [...active].filter((call) => desk.dispatchOf(call) !== undefined);
          expect(running.length).toBeGreaterThan(0);
          for (const call of running) finish(call);
        }
      }),
      { numRuns: 60 },
    );
  });
});
