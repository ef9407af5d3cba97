import { expect, it } from 'vitest';
import type { Command, Warm } from '../../../src/index.js';
import { Desk } from '../../support/core-desk.js';
import { ended, moved } from '../../support/core-events.js';

const TOOL_MS = 8_000;
/** 0.1 ms for each of 1,000 tokens. */
const WARM_MS = 100;

/** A call of the program, answered at once, after which it runs a tool. */
function answer(desk: Desk, program: string, prompt: number): void {
  const call = `${program} ${desk.nowMs}`;
  desk.arrive(call, { program, prompt });
  desk.finish(call, { prompt, output: 1, tools: ['read'] });
}

/** A program runs a tool, and others have pushed it out of the cache. Forty like it have ended after so many calls. */
function away(calls: number): Desk {
  const desk = new Desk({ policy: { foresight: 'learnt', prefetch: 'on' } });
  desk.join('A', { window: 4, capacity: 2_000 });
  for (let program = 0; program < 40; program += 1) {
    for (let call = 0; call < calls; call += 1, desk.pass(TOOL_MS)) answer(desk, `taught${program}`, 10);
    desk.tell(ended(`taught${program}`));
  }
  for (const program of ['away', 'b', 'c']) answer(desk, program, 1_000);
  for (const program of ['b', 'c']) desk.tell(ended(program));
  return desk;
}

const warms = (commands: readonly Command[]): Warm[] => commands.filter((command) => command.type === 'warm');

it('a warm begins so early that it has ended when its thread is expected', () => {
  const desk = away(4);
  expect(warms(desk.pass(TOOL_MS - WARM_MS - 1))).toEqual([]);
  expect(warms(desk.pass(1))).toMatchObject([{ program: 'away', tokens: 1_000 }]);
});

it('nothing is warmed for a thread that may well not return', () => {
  expect(warms(away(2).pass(10 * TOOL_MS))).toEqual([]);
});

it('a warm that a call has ended is neither done nor failed, whatever its engine says', () => {
  for (const isDone of [true, false]) {
    const desk = away(4);
    const [warm] = warms(desk.pass(TOOL_MS));
    desk.arrive('back', { program: 'away', prompt: 1_000 });
    desk.tell(moved(warm!, isDone, 1_000));
    expect(desk.scheduler.memory).toMatchObject({ warms: 1, cancelled: 1, failed: 0, warmedTokens: 1_000 });
  }
});
