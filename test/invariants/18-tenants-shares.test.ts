import { describe, expect, it } from 'vitest';
import { tenantId, type SchedulerConfig } from '../../src/index.js';
import type { CoreChanges } from '../support/core-config.js';
import { Desk, sentOut } from '../support/core-desk.js';
import { POLICIES } from '../support/core-play.js';
import { World, engineMs, type WorldProgram } from '../support/core-world.js';

const CALL_MS = 500;
const LARGE = { queuedMax: 10_000, queuedPerTenantMax: 10_000, programsMax: 30_000 };
const tenants = 'weighted';
/** Every policy that orders calls. */
const CASES = POLICIES.filter((name) => name !== 'pass-through');

/** Programs of one call each: so many of the tenant, from `startMs` on, `gapMs` apart. */
const backlog = (tenant: string, count: number, startMs = 0, gapMs = 0): WorldProgram[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `${tenant}/${index}`,
    tenant,
    startMs: startMs + index * gapMs,
    steps: [[{ serviceMs: CALL_MS }]],
  }));

/** Shares of the engine time from `fromMs` to `toMs`, where four slots are never free. */
function shares(policy: Partial<SchedulerConfig['policy']>, programs: WorldProgram[], fromMs: number, toMs: number) {
  const changes: CoreChanges = { policy, limits: LARGE, starvation: { waitMsMax: 30_000 } };
  const result = new World({ changes, engines: { A: { window: 2 }, B: { window: 2 } }, programs }).run();
  const sums = engineMs(result, CALL_MS, fromMs, toMs, (call) => call.split('/')[0]!);
  const all = Object.values(sums).reduce((sum, ms) => sum + ms, 0);
  expect(all).toBeCloseTo(4 * (toMs - fromMs), -1);
  return Object.fromEntries(Object.entries(sums).map(([tenant, ms]) => [tenant, ms / all]));
}

describe('engine time goes to tenants by weight', () => {
  it.each(CASES)('4 to 1 while both wait, with %s', (name) => {
    const programs = [...backlog('one', 700), ...backlog('four', 700)];
    const { one, four } = shares({ name, tenants, tenantWeights: { four: 4 } }, programs, 10_000, 70_000);
    expect(four! / one!).toBeGreaterThan(3.8);
    expect(four! / one!).toBeLessThan(4.2);
  });

  it('and all of it to one while the other is idle, who then gains at most its last minute', () => {
    const programs = [...backlog('late', 800, 100_000), ...backlog('early', 1600)];
    expect(shares({ tenants }, programs, 50_000, 100_000)).toMatchObject({ early: 1 });
    // ln 2 of the time constant: then both have had as much, and share evenly.
    expect(shares({ tenants }, programs, 100_000, 130_000)['late']).toBeGreaterThan(0.9);
    expect(shares({ tenants }, programs, 150_000, 170_000)['late']).toBeCloseTo(0.5, 1);
  });

  it('not at all with none: the earlier backlog goes first', () => {
    const programs = [...backlog('early', 300), ...backlog('late', 100, 1000)];
    expect(shares({ tenants: 'none' }, programs, 2_000, 30_000)).toMatchObject({ early: 1 });
  });

  it('and changes no command of a single tenant', () => {
    const programs = backlog('only', 200, 0, 150).map((each, index) => ({
      ...each,
      steps: Array.from({ length: 1 + (index % 3) }, () => [{ serviceMs: 100 * (1 + (index % 7)) }]),
    }));
    const logOf = (division: SchedulerConfig['policy']['tenants']) =>
      new World({
        changes: { policy: { tenants: division }, limits: LARGE },
        engines: { A: { window: 2 } },
        programs,
      }).run().log;
    expect(logOf('weighted')).toEqual(logOf('none'));
  });

  it('so that a light tenant’s calls hardly wait behind a heavy one’s backlog', () => {
    const waitOf = (division: SchedulerConfig['policy']['tenants']) => {
      const programs = [...backlog('heavy', 500), ...backlog('light', 20, 5_000, 2_000)];
      const changes: CoreChanges = { policy: { tenants: division }, limits: LARGE };
      const { doneAtMs } = new World({ changes, engines: { A: { window: 4 } }, programs }).run();
      const waits = programs
        .filter(({ tenant }) => tenant === 'light')
        .map(({ id, startMs = 0 }) => doneAtMs.get(id)! - startMs - CALL_MS);
      return Math.max(...waits);
    };
    expect(waitOf('none')).toBeGreaterThan(20_000);
    expect(waitOf(tenants)).toBeLessThanOrEqual(CALL_MS);
  });
});

describe('the books of tenants', () => {
  it('show each call in flight, however briefly its tenant was idle before', () => {
    const desk = new Desk({ policy: { tenants: 'weighted' } }).with('A', { window: 4 });
    desk.arrive('a', { tenant: 'a' });
    desk.pass(1_000);
    desk.serve('b', { tenant: 'b' }, { afterMs: 1_000 });
    const books = desk.scheduler.views
      .tenants()
      .map(({ tenant, inFlight, attainedShare }) => [tenant, inFlight, attainedShare]);
    expect(books).toEqual([
      ['a', 1, expect.closeTo(2 / 3, 1)],
      ['b', 0, expect.closeTo(1 / 3, 1)],
    ]);
    desk.pass(1_000_000);
    desk.finish('a');
    expect(desk.scheduler.views.tenants().map(({ tenant }) => tenant)).toEqual(['a']);
  });
});

describe('no tenant starves', () => {
  it.each(CASES)('a call overdue goes first if its tenant has none in flight: %s', (name) => {
    const desk = new Desk({
      policy: { name, tenants, tenantWeights: { poor: 0.001, rich: 1000 } },
      starvation: { waitMsMax: 5_000 },
      limits: LARGE,
    }).with('A', { window: 1 });
    desk.arrive('first', { tenant: 'poor' });
    desk.pass(1_000);
    desk.arrive('poor', { tenant: 'poor' });
    for (let index = 0; index < 50; index += 1) desk.arrive(`rich${index}`, { tenant: 'rich' });
    const order = sentOut(desk.finish('first'));
    for (let index = 0; index < 20; index += 1) {
      desk.pass(500);
      order.push(...sentOut(desk.finish(order.at(-1)!.split('@')[0]!)));
    }
    // Overdue at 6,000 ms, after ten calls of the rich tenant.
    expect(order.indexOf('poor@A')).toBe(10);
  });

  it('a call too large for what is left beside smaller ones gets room', () => {
    const desk = new Desk({
      policy: { tenants },
      admission: { gate: 1, reserveMs: 80_000, turnMs: 1_000, outputReserveTokens: 0 },
      limits: LARGE,
    }).with('A', { window: 8, capacity: 1_000 });
    let small = 0;
    const arrive = () => desk.arrive(`small${small++}`, { tenant: 'small', prompt: 300 });
    for (let index = 0; index < 20; index += 1) arrive();
    desk.pass(100);
    desk.arrive('large', { tenant: 'large', prompt: 800 });
    let done = 0;
    while (desk.dispatchOf('large') === undefined && desk.nowMs < 60_000) {
      desk.pass(300);
      desk.finish(`small${done++}`, { prompt: 300, output: 1 });
      arrive();
    }
    // An eighth of `reserveMs`, and until the calls in flight have ended.
    expect(desk.nowMs).toBeGreaterThan(10_000);
    expect(desk.nowMs).toBeLessThan(12_000);
  });
});

describe('a reload', () => {
  it('divides anew under load, and loses no call', () => {
    const desk = new Desk({ limits: LARGE }).with('A', { window: 2 });
    for (let index = 0; index < 40; index += 1) desk.arrive(`a${index}`, { tenant: 'a' });
    for (let index = 0; index < 40; index += 1) desk.arrive(`b${index}`, { tenant: 'b' });
    const { views } = desk.scheduler;
    expect(views.tenants()).toEqual([]);
    let last = ['a0', 'a1'];
    const work = (turns: number): string => {
      let order = '';
      for (let turn = 0; turn < turns; turn += 1) {
        desk.pass(100);
        const next = sentOut(desk.finish(last.shift()!)).map((each) => each.split('@')[0]!);
        last.push(...next);
        order += next.map((each) => each[0]!).join('');
      }
      return order;
    };
    expect(work(8)).toBe('aaaaaaaa');
    desk.configure({ limits: LARGE, policy: { tenants: 'weighted', tenantWeights: { b: 3 } } });
    expect(views.tenants().map(({ tenant, waiting, inFlight }) => [tenant, waiting, inFlight])).toEqual([
      [tenantId('a'), 30, 2],
      [tenantId('b'), 40, 0],
    ]);
    const order = work(32);
    expect(order.split('b').length - 1).toBeGreaterThanOrEqual(23);
    expect(order).toContain('a');
    desk.configure({ limits: LARGE });
    expect(work(12)).toMatch(/^a+$/);
    last = last.filter(Boolean);
    while (last.length > 0) work(1);
    expect(views.waiting).toBe(0);
  });
});
