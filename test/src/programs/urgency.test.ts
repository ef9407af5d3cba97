import { describe, expect, it } from 'vitest';
import { modelId, programId, tenantId } from '../../../src/index.js';
import { Accounts } from '../../../src/programs/accounts.js';
import { Program } from '../../../src/programs/process-table.js';
import { urgencyOf } from '../../../src/programs/urgency.js';
import { coreConfig } from '../../support/core-config.js';

/** A program that arrived at 1,000 ms and has attained 4,000 ms. Nothing is known of others, so as much is left. */
function program(changes: Partial<Program> = {}): Program {
  return Object.assign(new Program(programId('p'), tenantId('t'), 1_000), { serviceMs: 4_000 }, changes);
}

const at = (nowMs: number, changes: Partial<Program> = {}, foresees = false) =>
  urgencyOf(program(changes), false, foresees, 100, nowMs);

describe('urgency', () => {
  it('is the remaining work over the time to a declared deadline, at most 1', () => {
    expect(at(2_000, { deadlineAtMs: 10_000 })).toBe(0.5);
    expect(at(6_000, { deadlineAtMs: 10_000 })).toBe(1);
    expect(at(9_000, { deadlineAtMs: 10_000 })).toBe(1);
    expect(at(90_000, { deadlineAtMs: 10_000 })).toBe(1);
  });

  it('goes by one and a half times its whole work without a declaration; pauses do not count', () => {
    // Due at 1,000 + 1.5 x 8,000.
    expect(at(5_000)).toBe(0.5);
    expect(at(5_000, { pausedMs: 8_000 })).toBe(0.25);
    expect(at(25_000)).toBe(1);
  });

  it('has a new program need a little, and one without an end in sight what it has had', () => {
    expect(at(1_000, { serviceMs: 0 })).toBeCloseTo(100 / 150);
    expect(at(5_000, { outlook: { view: () => ({ remainingMs: Infinity }) } as never }, true)).toBe(0.5);
  });

  it('takes the outlook’s word for the rest, unless foresight is off', () => {
    const told = { outlook: { view: () => ({ remainingMs: 1_000 }) } as never, deadlineAtMs: 10_000 };
    expect(at(2_000, told, true)).toBe(0.125);
    expect(at(2_000, told, false)).toBe(0.5);
  });
});

it('does not count the time in which a program had no call', async () => {
  const { Desk } = await import('../../support/core-desk.js');
  const desk = new Desk({ policy: { tenants: 'afs' } });
  desk.join('A', { window: 4 });
  desk.arrive('a', { program: 'p', tenant: 'idle' });
  desk.pass(1_000);
  desk.finish('a');
  desk.pass(100_000);
  desk.arrive('b', { program: 'p', tenant: 'idle' });
  desk.arrive('c', { program: 'q', tenant: 'new' });
  desk.pass(200);
  desk.tell({ type: 'woke' });
  // Without the pause, `p` would be far past its deadline, more urgent than `q`, and due a larger share.
  const dues = desk.scheduler.views.tenants().map(({ dueShare }) => dueShare);
  expect(dues[0]).toBeLessThan(0.5);
});

it('urgencies are read every 100 ms, and with thousands of programs as many times more seldom', () => {
  const readAt = (programs: number): number[] => {
    const accounts = new Accounts(coreConfig({ policy: { tenants: 'afs' } }));
    const turn = accounts.turnOf({ program: { tenant: tenantId('t') }, model: modelId('m') });
    const calls = Array.from({ length: programs }, () => ({ turn, program: undefined, programIndex: 0 }));
    const read = new Set<number>();
    for (let nowMs = 1_050; nowMs < 2_000; nowMs += 50) {
      accounts.at(nowMs);
      accounts.reweigh(calls, (_, atMs) => (read.add(atMs), 1));
    }
    return [...read];
  };
  expect(readAt(1_000)).toEqual([1_000, 1_100, 1_200, 1_300, 1_400, 1_500, 1_600, 1_700, 1_800, 1_900]);
  expect(readAt(2_500)).toEqual([1_000, 1_200, 1_500, 1_800]);
});
