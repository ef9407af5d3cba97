import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { type PolicyName } from '../../src/index.js';
import { playMany } from '../support/core-play.js';
import { World, type WorldProgram } from '../support/core-world.js';

const WAIT_MS_MAX = 5_000;
const LONGEST_CALL_MS = 100;

/** Twice the work that one slot can do in a minute, in programs that are all newer than the old one. */
function flood(prompt: number): WorldProgram[] {
  return Array.from({ length: 1_200 }, (_, index) => ({
    id: `young${index}`,
    startMs: 1_000 + index * 50,
    steps: [[{ prompt, serviceMs: LONGEST_CALL_MS }]],
  }));
}

/** Wait of the old program's last call, which arrived at 1,500 ms. */
function waitOf(log: ReturnType<World['run']>['log']): number {
  const sent = log.find(({ command }) => command.type === 'dispatch' && command.call === 'old/1.0');
  return sent!.atMs - 1_500;
}

describe('no call is starved past waitMsMax', () => {
  it.each<PolicyName>(['plas', 'fcfs-window'])('by a flood of young programs (%s)', (name) => {
    const { log } = new World({
      changes: { policy: { name }, starvation: { waitMsMax: WAIT_MS_MAX } },
      engines: { A: { window: 1 } },
      programs: [
        { id: 'old', gapMs: 500, steps: [[{ prompt: 900, serviceMs: 1_000, output: 9_000 }], [{ serviceMs: 10 }]] },
        ...flood(100),
      ],
    }).run();
    // Only the running call and earlier overdue ones are ahead of it; under these policies none are overdue.
    expect(waitOf(log)).toBeLessThanOrEqual(name === 'plas' ? WAIT_MS_MAX + LONGEST_CALL_MS : 60_000);
  });

  it('and not without that: the flood does starve it', () => {
    const { log } = new World({
      engines: { A: { window: 1 } },
      programs: [{ id: 'old', gapMs: 500, steps: [[{ serviceMs: 1_000 }], [{ serviceMs: 10 }]] }, ...flood(100)],
    }).run();
    expect(waitOf(log)).toBeGreaterThan(60_000);
  });

  it.each([0, 300, 3_000])(
    'by a flood that fits the gate where it does not: room is kept for it (turnMs %i)',
    (turnMs) => {
      const { log } = new World({
        changes: {
          starvation: { waitMsMax: WAIT_MS_MAX },
          admission: { gate: 1, outputReserveTokens: 0, turnMs },
        },
        engines: { A: { window: 20, capacity: 1_000 } },
        programs: [
          { id: 'old', gapMs: 500, steps: [[{ serviceMs: 1_000 }], [{ prompt: 990, serviceMs: 10 }]] },
          ...flood(450),
        ],
      }).run();
      // Once its room is reserved, the calls in flight must end, and no new one starts. No aged call is ahead of it.
      expect(waitOf(log)).toBeLessThanOrEqual(WAIT_MS_MAX + LONGEST_CALL_MS);
    },
  );

  it.each([0, 300, 3_000])('by a flood that comes before it while another call has room kept (turnMs %i)', (turnMs) => {
    const { log } = new World({
      changes: {
        starvation: { waitMsMax: WAIT_MS_MAX },
        admission: { gate: 1, outputReserveTokens: 0, turnMs, reserveMs: 200 },
      },
      engines: { A: { window: 20, capacity: 1_000 } },
      programs: [
        { id: 'old', gapMs: 500, steps: [[{ serviceMs: 1_000 }], [{ prompt: 990, serviceMs: 10 }]] },
        { id: 'older', gapMs: 1_500, steps: [[{ serviceMs: 4_500 }], [{ prompt: 995, serviceMs: 10 }]] },
        ...flood(450),
      ],
    }).run();
    expect(waitOf(log)).toBeLessThanOrEqual(WAIT_MS_MAX + turnMs + 2 * LONGEST_CALL_MS);
  });
});

it('a call that has waited for waitMsMax stands in the first queue', () => {
  let overdue = 0;
  playMany({
    without: ['configure'],
    onMoment({ book, scheduler, nowMs, config }) {
      for (const { threads } of scheduler.views.programs()) {
        for (const { call, state, level } of threads) {
          const booked = book.calls.get(call)!;
          const waitedMs = booked.waitedMs + nowMs - booked.sinceMs;
          // A call that was sent back in this step moves there in the next one.
          if (state !== 'waiting' || waitedMs < config.starvation.waitMsMax || booked.sinceMs === nowMs) continue;
          overdue += 1;
          assert.equal(level, 0, `${call} after ${waitedMs} ms`);
        }
      }
    },
  });
  assert.ok(overdue > 25, `only ${overdue} calls`);
});
