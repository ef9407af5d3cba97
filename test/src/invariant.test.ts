import { beforeEach, expect, it } from 'vitest';
import { millis, Scheduler } from '../../src/index.js';
import { invariant, tellViolationsTo } from '../../src/invariant.js';
import { coreConfig } from '../support/core-config.js';
import { balancerNamed } from '../support/core-desk.js';
import { woke } from '../support/core-events.js';

beforeEach(() => tellViolationsTo());

it('throws unless someone hears of it', () => {
  invariant(true, 'holds');
  expect(() => invariant(false, 'two is less than one')).toThrow('invariant broken: two is less than one');
});

it('is counted by the scheduler that steps, whose driver hears of it', () => {
  const heard: string[] = [];
  const scheduler = new Scheduler(coreConfig(), balancerNamed('sticky'), undefined, (message) => heard.push(message));
  scheduler.step(woke, millis(0));
  invariant(false, 'broken here');
  expect(heard).toEqual(['broken here']);
  expect(scheduler.totals.violations).toBe(1);
  new Scheduler(coreConfig(), balancerNamed('sticky')).step(woke, millis(0));
  expect(() => invariant(false, 'broken there')).toThrow();
  expect(scheduler.totals.violations).toBe(1);
});
