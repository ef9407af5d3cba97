import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { TimerHeap, type Timed } from '../../../src/queues/timer-heap.js';
import { Dice } from '../../support/dice.js';

const timed = (seq: number): Timed => ({ heapIndex: -1, timerAtMs: 0, seq });

describe('TimerHeap', () => {
  it('removes an entry that is set to Infinity, and lets an absent one be removed', () => {
    const heap = new TimerHeap<Timed>();
    const entry = timed(1);
    heap.set(entry, Infinity);
    heap.delete(entry);
    heap.set(entry, 3);
    heap.set(entry, Infinity);
    expect([heap.size, heap.peek(), entry.heapIndex]).toEqual([0, undefined, -1]);
    heap.set(entry, 4);
    expect(heap.peek()).toBe(entry);
  });

  it('does as a sorted list does under random operations', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      const dice = new Dice(seed);
      const heap = new TimerHeap<Timed>();
      const entries = Array.from({ length: 20 }, (_, seq) => timed(seq));
      const model = new Map<Timed, number>();
      for (let step = 0; step < 120; step += 1) {
        const entry = dice.pick(entries);
        if (dice.chance(0.7)) {
          const atMs = dice.int(-5, 15);
          heap.set(entry, atMs);
          model.set(entry, atMs);
        } else {
          heap.delete(entry);
          model.delete(entry);
        }
        const sorted = [...model].sort(([a, atA], [b, atB]) => atA - atB || a.seq - b.seq);
        assert.equal(heap.peek(), sorted[0]?.[0]);
        assert.equal(heap.peek()?.timerAtMs, sorted[0]?.[1]);
        assert.equal(heap.size, model.size);
      }
    }
  });
});
