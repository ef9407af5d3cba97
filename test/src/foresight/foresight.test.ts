import { describe, expect, it } from 'vitest';
import type { SchedulerConfig } from '../../../src/index.js';
import { Desk, orderFrom, sentOut } from '../../support/core-desk.js';
import { ended } from '../../support/core-events.js';

/** A token of an answer takes 10 ms here, so that a declaration of 100 output tokens is one second. */
const MS_PER_TOKEN = 10;
const QUEUE_MS = 60_000;
const TURN_MS = 1_000;
const STARVATION = { beta: 4, floorMs: 100, waitMsMax: 5_000 };
const SHORT = { id: 1, tokens: 50 };
const LONG = { id: 2, tokens: 50 };

const POLICY = { firstQuantumMs: 100, msPerPromptToken: 0, msPerOutputToken: MS_PER_TOKEN };

type Order = SchedulerConfig['policy'];

function deskWith(foresight: Order['foresight'], order: Order['order'] = 'attained'): Desk {
  return new Desk({
    policy: { ...POLICY, foresight, order },
    starvation: STARVATION,
    timeouts: { queueMs: QUEUE_MS },
    admission: { turnMs: TURN_MS, reserveMs: 0 },
  }).with('A', { window: 1 });
}

/** Plays whole programs of one call, each of which declares its size times the factor. */
function teach(desk: Desk, tenant: string, sizesMs: readonly number[], factor: (index: number) => number): void {
  sizesMs.forEach((sizeMs, index) => {
    const program = `${tenant}/taught${index}`;
    const output = (sizeMs / MS_PER_TOKEN) * factor(index);
    desk.serve(
      program,
      { program, tenant, remaining: { prompt: 0, output } },
      { afterMs: sizeMs, prompt: 100, output: 10, serviceMs: sizeMs },
    );
    desk.tell(ended(program));
  });
}

const SIZES_MS = Array.from({ length: 24 }, (_, index) => 200 * (1 + ((index * 7) % 24)));
const right = () => 1;
/** Turns the order of sizes around, from one program to the next. */
const wild = (index: number) => (index % 2 === 0 ? 100 : 0.01);

/** A desk at which tenant `a` has proved right. */
function believing(): Desk {
  const desk = deskWith('declared');
  teach(desk, 'a', SIZES_MS, right);
  return desk;
}

/** The order in which a first and a second waiting call leave the queue. */
function orderOf(desk: Desk, first: Parameters<Desk['arrive']>, second: Parameters<Desk['arrive']>): string[] {
  desk.arrive(`running-${desk.nowMs}-${first[0]}`);
  desk.arrive(...first);
  desk.arrive(...second);
  const [next] = sentOut(desk.finish(`running-${desk.nowMs}-${first[0]}`));
  const after = sentOut(desk.finish(next!.split('@')[0]!));
  for (const sent of after) desk.finish(sent.split('@')[0]!);
  return [next!, ...after].map((sent) => sent.split('@')[0]!);
}

describe('declared work', () => {
  const large = { tenant: 'a', remaining: { prompt: 0, output: 400 } };
  const small = { tenant: 'a', remaining: { prompt: 0, output: 30 } };

  it.each([
    ['declared', right, ['small', 'large']],
    ['declared', wild, ['large', 'small']],
    ['none', right, ['large', 'small']],
  ] as const)('with foresight %s ranks programs by it where the tenant was %o', (foresight, factor, order) => {
    const desk = deskWith(foresight);
    teach(desk, 'a', SIZES_MS, factor);
    expect(orderOf(desk, ['large', large], ['small', small])).toEqual(order);
  });

  const liar = { tenant: 'liar' };

  it('is believed by tenant: one tenant’s false declarations do not discredit another’s', () => {
    const desk = deskWith('declared');
    teach(desk, 'liar', SIZES_MS, wild);
    teach(desk, 'a', SIZES_MS, right);
    expect(orderOf(desk, ['large', large], ['small', small])).toEqual(['small', 'large']);
    expect(orderOf(desk, ['big', { ...large, ...liar }], ['tiny', { ...small, ...liar }])).toEqual(['big', 'tiny']);
  });

  it('is replaced by a later, larger one', () => {
    const desk = believing();
    desk.serve('first', { program: 'p', ...small }, { prompt: 100, output: 10, serviceMs: 150 });
    const again = { program: 'p', ...large };
    expect(orderOf(desk, ['second', again], ['other', small])).toEqual(['other', 'second']);
  });

  it('counts for no less than the first declaration leaves, however small the later ones are', () => {
    const desk = believing();
    desk.serve('first', { program: 'p', ...large }, { prompt: 100, output: 10, serviceMs: 150 });
    const again = { program: 'p', tenant: 'a', remaining: { prompt: 0, output: 1 } };
    expect(orderOf(desk, ['second', again], ['other', small])).toEqual(['other', 'second']);
  });

  it('no longer counts once a reload switches foresight off', () => {
    const desk = believing();
    desk.arrive('first', { program: 'p', ...large });
    desk.configure({ policy: { ...POLICY, foresight: 'none' }, starvation: STARVATION });
    desk.finish('first', { prompt: 100, output: 10, serviceMs: 50 });
    expect(orderOf(desk, ['second', { program: 'p', tenant: 'a' }], ['other', small])).toEqual(['second', 'other']);
  });

  it('nor does it for calls that wait at the reload', () => {
    const desk = believing();
    desk.arrive('running');
    desk.arrive('large', large);
    desk.arrive('small', small);
    desk.configure({ policy: { ...POLICY, foresight: 'none' }, starvation: STARVATION });
    expect(orderFrom(desk, 'running')).toEqual(['large', 'small']);
  });

  it('no longer counts for a program that has outlived it', () => {
    const desk = believing();
    desk.serve('first', { program: 'p', ...small }, { prompt: 100, output: 10, serviceMs: 4_000 });
    expect(orderOf(desk, ['second', { program: 'p', tenant: 'a' }], ['large', large])).toEqual(['second', 'large']);
    expect(desk.dispatchOf('second')?.level).toBe(6);
  });

  it('lets a large program wait beta times its size before it is promoted, once', () => {
    const desk = believing();
    desk.arrive('running');
    const { nowMs } = desk;
    desk.arrive('large', large);
    desk.arrive('unknown', { tenant: 'b', program: 'old' });
    desk.passTo(nowMs + STARVATION.beta * 4_000 - 500);
    expect(desk.scheduler.totals).toMatchObject({ promotions: 1, overdue: 1 });
    desk.passTo(nowMs + STARVATION.beta * 4_000 + 500);
    expect(desk.scheduler.totals).toMatchObject({ promotions: 2, overdue: 2 });
  });

  it('lets it wait no longer than the queue allows, less a turn', () => {
    const desk = believing();
    desk.arrive('running');
    desk.arrive('large', { tenant: 'a', remaining: { prompt: 0, output: 2_000 } });
    desk.pass(QUEUE_MS - TURN_MS - 1);
    expect(desk.scheduler.totals.overdue).toBe(0);
    desk.pass(1);
    expect(desk.scheduler.totals.overdue).toBe(1);
  });
});

describe('agent types', () => {
  /** Programs of two families: short ones of 100 ms, and half as many long ones of 10 s. */
  function teachTypes(desk: Desk): void {
    for (let program = 0; program < 40; program += 1)
      for (const [family, sizeMs] of [
        [SHORT, 100],
        [LONG, 10_000],
        [SHORT, 100],
      ] as const) {
        const id = `type${family.id}/${program}/${desk.nowMs}`;
        desk.serve(id, { program: id, family }, { afterMs: sizeMs, prompt: 100, output: 10, serviceMs: sizeMs });
        desk.tell(ended(id));
      }
  }

  it.each([
    ['attained', ['long', 'short']],
    ['learnt', ['short', 'long']],
  ] as const)('with the order %s, programs of a short type go first or not', (order, expected) => {
    const desk = deskWith('none', order);
    teachTypes(desk);
    expect(orderOf(desk, ['long', { family: LONG }], ['short', { family: SHORT }])).toEqual(expected);
  });

  it('belong to a tenant: the same family of another is unknown', () => {
    const desk = deskWith('none', 'learnt');
    teachTypes(desk);
    expect(orderOf(desk, ['long', { family: LONG, tenant: 'b' }], ['short', { family: SHORT, tenant: 'b' }])).toEqual([
      'long',
      'short',
    ]);
  });
});
