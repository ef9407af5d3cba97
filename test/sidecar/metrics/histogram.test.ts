import fc from 'fast-check';
import { Histogram as Reference, Registry, Counter } from 'prom-client';
import { expect, it } from 'vitest';
import { Completions } from '../../../sidecar/metrics/completions.js';
import { Histogram } from '../../../sidecar/metrics/histogram.js';
import type { IdleProgram, Millis, ProgramGone, ProgramId } from '../../../src/index.js';

const BOUNDS = [0.001, 0.25, 1, 1000];

it('prints what prom-client prints for the same values', async () => {
  const value = fc.oneof(fc.constantFrom(...BOUNDS, 0), fc.double({ min: 0, max: 2000, noNaN: true }));
  const observations = fc.array(fc.tuple(value, fc.nat(2)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(observations, fc.boolean(), async (observed, isLabelled) => {
      const [ours, theirs] = [new Registry(), new Registry()];
      const own = new Histogram(ours, 'a_seconds', 'Help.', BOUNDS, isLabelled ? { label: 'level' } : {});
      const labelNames = isLabelled ? ['level'] : [];
      const settings = { name: 'a_seconds', help: 'Help.', buckets: BOUNDS, registers: [theirs], labelNames };
      const reference = new Reference(settings);
      for (const [seconds, level] of observed) {
        if (isLabelled) {
          own.observe(seconds, level);
          reference.observe({ level }, seconds);
        } else {
          own.observe(seconds);
          reference.observe(seconds);
        }
      }
      expect(await ours.metrics()).toBe(await theirs.metrics());
    }),
    { numRuns: 200, seed: 7 },
  );
});

it('counts a program after a minute without a call, corrects it when it goes on, and never counts it twice', async () => {
  const registry = new Registry();
  let nowMs = 0;
  let idle: IdleProgram[] = [];
  const seconds = new Histogram(registry, 'a_seconds', 'Help.', [10, 100], { collect: () => completions.count() });
  const corrections = new Counter({ name: 'b_total', help: 'Help.', registers: [registry] });
  const completions = new Completions({
    idle: () => idle,
    known: { of: () => undefined, leaving: () => undefined },
    now: () => nowMs as Millis,
  });
  completions.add({
    counted: (each) => seconds.observe(each),
    unanswered: () => undefined,
    corrected: (more) => {
      seconds.correct(more);
      corrections.inc();
    },
  });
  const rest = (program: string, idleSinceMs: number, durationMs: number) =>
    idle.unshift({
      program: program as ProgramId,
      idleSinceMs: idleSinceMs as Millis,
      durationMs: durationMs as Millis,
    });
  const leave = (program: string, durationMs: number) => {
    idle = idle.filter((row) => row.program !== program);
    completions.programGone({ program, durationMs } as ProgramGone);
  };
  const scraped = async (atMs: number) => {
    nowMs = atMs;
    const text = await registry.metrics();
    return ['le="10"', 'le="100"', 'a_seconds_sum', 'a_seconds_count', 'b_total'].map((name) =>
      Number(
        text
          .split('\n')
          .find((line) => line.includes(name) && !line.startsWith('#'))
          ?.split(' ')
          .at(-1),
      ),
    );
  };
  rest('one', 5_000, 5_000);
  expect(await scraped(64_000)).toEqual([0, 0, 0, 0, 0]);
  rest('two', 30_000, 20_000);
  expect(await scraped(65_000)).toEqual([1, 1, 5, 1, 0]);
  expect(await scraped(66_000)).toEqual([1, 1, 5, 1, 0]);
  // The first goes on; the second leaves before a scrape has counted it.
  idle = idle.filter(({ program }) => program !== 'one');
  leave('two', 20_000);
  rest('one', 80_000, 80_000);
  expect(await scraped(100_000)).toEqual([1, 2, 25, 2, 0]);
  expect(await scraped(140_000)).toEqual([1, 2, 100, 2, 1]);
  leave('one', 80_000);
  expect(await scraped(141_000)).toEqual([1, 2, 100, 2, 1]);
  // Another program by the same id counts anew.
  leave('one', 1_000);
  expect(await scraped(142_000)).toEqual([2, 3, 101, 3, 1]);
});
