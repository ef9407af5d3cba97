import { describe, expect, it } from 'vitest';
import { misidentified, noisyService, untimed } from '../../../sim/virtual/lenses.js';
import type { CallArrived, CallFinished } from '../../../src/index.js';
import * as event from '../../support/core-events.js';
import { agentProgram, play } from '../../support/sim-play.js';

const finished = (serviceMs?: number): CallFinished => event.finished('c', { queueMs: 5, ...(serviceMs !== undefined && { serviceMs }) }); // prettier-ignore
const arrived = (program: string): CallArrived => event.arrived('c', { program });

describe('lenses', () => {
  it('make service times off by up to their share, both ways, and leave the rest alone', () => {
    const [lens, same] = [noisyService(0.5, 4), noisyService(0.5, 4)];
    const seen = Array.from({ length: 500 }, () => lens(finished(1000)) as CallFinished);
    expect(seen).toEqual(Array.from({ length: 500 }, () => same(finished(1000))));
    const times = seen.map((event) => event.serviceMs!);
    const [least, most] = [Math.min(...times), Math.max(...times)];
    expect([least >= 500, least < 550, most <= 1500, most > 1450]).toEqual([true, true, true, true]);
    expect(lens(finished())).toEqual(finished());
    expect(lens(arrived('p'))).toEqual(arrived('p'));
  });

  it('take away what engines say of times', () => {
    expect(untimed(finished(1000))).toEqual({ type: 'callFinished', call: 'c' });
    expect(untimed(arrived('p'))).toEqual(arrived('p'));
  });

  it('let some programs pass for two, and others for one, by the shares', () => {
    const lens = misidentified({ split: 0.1, merged: 0.1 }, 9);
    const names = Array.from({ length: 1000 }, (_, index) =>
      Array.from({ length: 12 }, () => (lens(arrived(`p${index}`)) as CallArrived).program),
    );
    const split = names.filter((calls) => new Set(calls).size === 2);
    expect(split.length).toBeGreaterThan(70);
    expect(split.length).toBeLessThan(130);
    // Once taken for another, it stays that one.
    for (const calls of split) expect(calls.indexOf(calls.at(-1)!)).toBe(calls.findIndex((name) => name !== calls[0]));
    const others = names.filter((calls) => new Set(calls).size === 1).map((calls) => calls[0]!);
    const merged = others.length - new Set(others).size;
    expect(merged).toBeGreaterThan(30);
    expect(merged).toBeLessThan(70);
    for (const name of others) expect(others.filter((other) => other === name).length).toBeLessThanOrEqual(2);
  });

  it('change what the scheduler hears, not what programs do', () => {
    const programs = Array.from({ length: 10 }, (_, index) => agentProgram(`p${index}`, index * 300));
    const plain = play(programs, { kvTokens: 20_000 });
    const blurred = play(programs, { kvTokens: 20_000, lens: misidentified({ split: 0.5, merged: 0.5 }, 1) });
    const names = (played: typeof plain) => played.programRecords.map(({ program, calls }) => [program, calls]).sort();
    expect(names(blurred)).toEqual(names(plain));
    expect(blurred.programRecords).not.toEqual(plain.programRecords);
  });
});
