import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { Timers, type Timed } from '../../../src/queues/timers.js';
import { Dice } from '../../support/dice.js';

const timed = (seq: number): Timed => ({ timerAtMs: Infinity, seq });

describe('Timers', () => {
  it('removes an entry that is set to Infinity, and lets an absent one be removed', () => {
    const timers = new Timers<Timed>();
    const entry = timed(1);
    timers.set(entry, Infinity);
    timers.set(entry, Infinity);
    timers.set(entry, 3);
    timers.set(entry, Infinity);
    expect([timers.size, timers.peek()]).toEqual([0, undefined]);
    timers.set(entry, 4);
    expect(timers.peek()).toBe(entry);
  });

  it('does as a sorted list does under random operations', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      const dice = new Dice(seed);
      const timers = new Timers<Timed>();
      const entries = Array.from({ length: 20 }, (_, seq) => timed(seq));
      const model = new Map<Timed, number>();
      for (let step = 0; step < 120; step += 1) {
        const entry = dice.pick(entries);
        if (dice.chance(0.7)) {
          const atMs = dice.int(-5, 15);
          timers.set(entry, atMs);
          model.set(entry, atMs);
        } else {
          timers.set(entry, Infinity);
          model.delete(entry);
        }
        const sorted = [...model].sort(([a, atA], [b, atB]) => atA - atB || a.seq - b.seq);
        assert.equal(timers.peek(), sorted[0]?.[0]);
        assert.equal(timers.peek()?.timerAtMs, sorted[0]?.[1]);
        assert.equal(timers.size, model.size);
      }
    }
  });
});
