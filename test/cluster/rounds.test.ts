import { describe, expect, it } from 'vitest';
import { Rounds } from '../../cluster/index.js';

const URGENT = true;
const CALM = false;

describe('rounds of claims', () => {
  it('are a millisecond apart for each gateway and for 32 engines while calls wait, else 25 ms or more', () => {
    const rounds = new Rounds();
    expect(rounds.plan(CALM, 4, 64)).toBeLessThan(0);
    rounds.begin(1000);
    expect(rounds.plan(URGENT, 4, 64)).toBe(1006);
    rounds.begin(1006);
    expect(rounds.plan(CALM, 4, 64)).toBe(1031);
    rounds.begin(1031);
    expect(rounds.plan(CALM, 64, 64)).toBe(1097);
  });

  it('are planned once, and come sooner when a call begins to wait', () => {
    const rounds = new Rounds();
    rounds.begin(0);
    expect(rounds.plan(CALM, 4, 32)).toBe(25);
    expect(rounds.plan(CALM, 4, 32)).toBeUndefined();
    expect(rounds.plan(URGENT, 4, 32)).toBe(5);
    expect(rounds.plan(CALM, 4, 32)).toBeUndefined();
    expect(rounds.plan(URGENT, 4, 32)).toBeUndefined();
  });
});
