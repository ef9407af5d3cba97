import { describe, expect, it } from 'vitest';
import { millis, tokens, type Elsewhere } from '../../../src/index.js';
import { Desk } from '../../support/core-desk.js';
import { arrived, cancelled, ended } from '../../support/core-events.js';

/** A prompt that counts as 8,000 ms of service: above all bounds of the four queues. */
const GIANT = 80_000;
const POLICY = { countPrompt: true };
const LEVEL = 3;

const deskWith = (changes: ConstructorParameters<typeof Desk>[0] = {}): Desk => {
  const desk = new Desk({ policy: POLICY, ...changes });
  desk.join('A', { window: 1 });
  desk.arrive('runs', { program: 'other' });
  return desk;
};

/** Levels of the program's active calls, in order of arrival. */
const levelsOf = (desk: Desk, program = 'p'): number[] => desk.program(program).threads.map(({ level }) => level);

describe('until a program has its first answer, a call ranks by its prompt', () => {
  it('after one that found the queue full', () => {
    const desk = deskWith({ limits: { queuedMax: 1 } });
    desk.arrive('waits');
    desk.arrive('refused', { program: 'p', prompt: GIANT });
    expect(desk.refusalOf('refused')).toBe('queue_full');
    desk.tell(cancelled('waits'));
    desk.arrive('again', { program: 'p', prompt: GIANT });
    expect(levelsOf(desk)).toEqual([LEVEL]);
  });

  it('after one that its engine refused, lost, or that was cancelled, waiting or running', () => {
    for (const end of ['refused', 'lost', 'running', 'waiting'] as const) {
      const desk = deskWith();
      desk.arrive('first', { program: 'p', prompt: GIANT });
      if (end !== 'waiting') {
        desk.finish('runs');
        desk.arrive('runs too', { program: 'other' });
      }
      if (end === 'refused' || end === 'lost') desk.fail('first', end);
      else desk.tell(cancelled('first'));
      if (end === 'waiting') desk.arrive('runs too', { program: 'other' });
      desk.arrive('again', { program: 'p', prompt: GIANT });
      expect(levelsOf(desk), end).toEqual([LEVEL]);
    }
  });

  it('each of a fan-out by its own, in whatever order they come', () => {
    const prompts = { large: GIANT, small: 100, medium: 15_000 };
    for (const order of [['large', 'small', 'medium'] as const, ['small', 'medium', 'large'] as const]) {
      const desk = deskWith();
      for (const call of order) desk.arrive(call, { program: 'p', prompt: prompts[call] });
      expect(levelsOf(desk)).toEqual(order.map((call) => ({ large: 3, small: 0, medium: 1 })[call]));
    }
  });

  it('but not after an answer, whatever became of other calls', () => {
    const desk = deskWith();
    desk.arrive('first', { program: 'p' });
    desk.finish('runs');
    desk.finish('first');
    desk.arrive('runs too', { program: 'other' });
    desk.arrive('next', { program: 'p', prompt: GIANT });
    expect(levelsOf(desk)).toEqual([0]);
  });

  it('also of a program that other gateways have only refused, but not of one that they have served', () => {
    const root = (calls: number) => ({ calls, firstPromptTokens: tokens(100), contextTokens: tokens(100) });
    const cases: readonly (readonly [Elsewhere, number])[] = [
      [{ serviceMs: millis(0), calls: 1, root: root(0) }, LEVEL],
      [{ serviceMs: millis(0), calls: 1, root: root(1) }, 0],
      [{ serviceMs: millis(10), calls: 1, root: root(0) }, 0],
    ];
    for (const [elsewhere, level] of cases) {
      const desk = deskWith();
      desk.tell({ ...arrived('moved', { program: 'p', prompt: GIANT }), elsewhere });
      expect(levelsOf(desk)).toEqual([level]);
    }
  });
});

describe('the first answer of a program', () => {
  const FAMILY = { id: 1, tokens: 5_000 };

  it('teaches the prefix of its family, also after a call that was refused', () => {
    const desk = new Desk({ policy: { ...POLICY, firstQuantumMs: 400 } });
    desk.join('A', { window: 8 });
    for (let program = 0; program < 20; program += 1) {
      const facts = { program: `p${program}`, prompt: 5_000, family: FAMILY };
      desk.arrive(`refused${program}`, facts);
      desk.fail(`refused${program}`, 'refused');
      desk.arrive(`answered${program}`, facts);
      desk.finish(`answered${program}`, { prompt: 5_000, output: 1, cached: 5_000 });
      desk.tell(ended(`p${program}`));
    }
    desk.join('A', { window: 1 });
    desk.arrive('runs');
    desk.arrive('new', { program: 'new', prompt: 5_000 + GIANT, family: FAMILY });
    desk.arrive('known', { program: 'known', prompt: 5_000, family: FAMILY });
    expect([levelsOf(desk, 'new'), levelsOf(desk, 'known')]).toEqual([[LEVEL], [0]]);
  });

  it('does not teach what it may have cached itself: a call of it ran before and was lost', () => {
    const desk = new Desk({ policy: { ...POLICY, firstQuantumMs: 400 } });
    desk.join('A', { window: 8 });
    for (let program = 0; program < 20; program += 1) {
      const facts = { program: `p${program}`, prompt: 5_000, family: FAMILY };
      desk.arrive(`lost${program}`, facts);
      desk.pass(1);
      desk.fail(`lost${program}`, 'lost');
      desk.arrive(`answered${program}`, facts);
      desk.finish(`answered${program}`, { prompt: 5_000, output: 1, cached: 5_000 });
    }
    desk.join('A', { window: 1 });
    desk.arrive('runs');
    desk.arrive('new', { program: 'new', prompt: 5_000, family: FAMILY });
    expect(levelsOf(desk, 'new')).toEqual([1]);
  });
});
