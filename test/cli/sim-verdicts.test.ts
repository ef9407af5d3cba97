import { describe, expect, it } from 'vitest';
import { combinationsOf } from '../../cli/sim/axes.js';
import { recommend } from '../../cli/sim/recommendation.js';
import type { Plan } from '../../cli/sim/plan.js';
import type { RunReport } from '../../cli/sim/worker.js';

const RATES = [0.1, 0.2, 0.4];
const POLICIES = ['pass-through', 'fcfs-window', 'plas', 'srpt'] as const;
const SEEDS = [1, 2, 3];

/** Runs in which a program takes as many seconds as the table says, for each rate and policy; seeds differ a little. */
function outcome(
  table: readonly (readonly number[])[],
  change: (run: RunReport, at: number) => Partial<RunReport> = () => ({}),
) {
  const lists = { rate: RATES, policy: POLICIES, balancer: ['sticky'] } as const;
  const variants = combinationsOf(lists).map((values) => ({ values, policy: values.policy, balancer: 'sticky' }));
  const plan = { lists, variants, seeds: SEEDS, isExact: false, margin: 0.02 } as unknown as Plan;
  const spread = (mean: number) => ({ count: 300, mean, p50: mean, p95: mean, p99: mean });
  const runs = variants.flatMap((_, variant) =>
    SEEDS.map((seed) => {
      const seconds = table[Math.floor(variant / POLICIES.length)]![variant % POLICIES.length]!;
      const times = spread(seconds * (1 + seed / 1000));
      const run = { variant, seed, complete: true, failed: 0, by_workload: {}, program_seconds: times, seconds_per_token: times, ttft_seconds: times, slowdown: times }; // prettier-ignore
      return { ...run, ...change(run as unknown as RunReport, variant) } as unknown as RunReport;
    }),
  );
  return recommend(plan, runs)!;
}

describe('the verdict over several loads', () => {
  it('is one for each load, and says from which one on a setting pays', () => {
    const { sentence, choice } = outcome([[10, 10, 10, 5], [20, 20, 14, 9], [400, 205, 200, 90]]); // prettier-ignore
    expect(sentence.split('\n')).toEqual([
      'At 0.1 a second: no difference.',
      expect.stringMatching(/^At 0\.2 a second: plas, programs 30 % faster: 0\.70 \(0\.70–0\.70\)\.$/),
      expect.stringMatching(/^At 0\.4 a second: plas, programs 2\.0x faster: 0\.50/),
      'plas pays from 0.2 a second on.',
      expect.stringContaining('The best of 4'),
    ]);
    expect(choice).toBe(2);
  });

  it('hides no certain gain behind a load that tells nothing, nor a setting that is as good', () => {
    const noisy = ({ seed }: RunReport, at: number) =>
      at === 9 || at === 10
        ? { program_seconds: { mean: seed === 1 ? 190 : 210 } as RunReport['program_seconds'] }
        : {};
    const { sentence } = outcome([[10, 9, 11, 5], [20, 20, 20, 20], [400, 200, 201, 90]], noisy); // prettier-ignore
    expect(sentence).toContain('At 0.4 a second: fcfs-window or plas, programs 2.0x faster');
    expect(sentence).toContain('At 0.1 a second: fcfs-window, programs 10 % faster');
  });

  it('names the kind of program that pays', () => {
    const kinds = (count: number) => (_: unknown, at: number) => ({ by_workload: { rag: { program_seconds: { count, p99: at === 10 ? 446 : 217 } }, coder: { program_seconds: { count, p99: at === 10 ? 99 : 98 } } } }) as unknown as Partial<RunReport>; // prettier-ignore
    const table = [[1, 1, 1, 1], [1, 1, 1, 1], [400, 400, 200, 90]]; // prettier-ignore
    const { sentence } = outcome(table, kinds(100));
    // The p99 of fewer is their slowest, which is chance.
    expect(outcome(table, kinds(99)).sentence).not.toContain('pays: p99');
    expect(sentence).toMatch(
      /At 0\.4 a second: plas.*; rag pays: p99 217 -> 446 s\.\nplas pays at 0\.4 a second, the only load that shows it\. Its price is highest at 0\.4 a second: rag pays: p99 217 -> 446 s\.$/m,
    );
  });

  it('names the times that are worse at each load, and where they are worst', () => {
    const later = ({ ttft_seconds: first, seed }: RunReport, at: number): Partial<RunReport> => {
      const factor = ({ 6: 1.5, 10: 4 } as Record<number, number>)[at] ?? 1;
      // Of one in three seeds: no certain difference.
      const p50 = at === 10 && seed === 1 ? 9 * first.p50! : first.p50!;
      return { ttft_seconds: { ...first, p50, p99: factor * 10 } };
    };
    const { sentence } = outcome([[10, 10, 10, 5], [20, 20, 14, 9], [400, 400, 200, 90]], later); // prettier-ignore
    expect(sentence.split('\n').slice(1, 4)).toEqual([
      expect.stringMatching(/0\.70\); first token p99 1\.5x slower \(10 -> 15 s\)\.$/),
      expect.stringMatching(/0\.50\); first token p99 4\.0x slower \(10 -> 40 s\)\.$/),
      'plas pays from 0.2 a second on. Its price is highest at 0.4 a second: first token p99 4.0x slower (10 -> 40 s).',
    ]);
  });

  it('keeps the first setting where none is better, and where a better one fails programs', () => {
    const { sentence, choice } = outcome([[10, 11, 12, 5], [20, 20, 20, 9], [400, 410, 200, 90]], (_, at) => ({ failed: at === 10 ? 1 : 0 })); // prettier-ignore
    expect(sentence.split('\n')).toEqual([
      'At 0.1 a second: pass-through is fastest.',
      'At 0.2 a second: no difference.',
      'At 0.4 a second: pass-through is fastest.',
      'Keep pass-through: nothing is significantly better.',
    ]);
    expect(choice).toBe(0);
  });

  it('says that seeds are too few, with what they show', () => {
    const wide = ({ seed }: RunReport, at: number) =>
      at % 4 === 2 ? { program_seconds: { mean: 4 * seed } as RunReport['program_seconds'] } : {};
    const { sentence } = outcome(
      [
        [10, 10, 10, 5],
        [10, 10, 10, 9],
        [10, 10, 10, 9],
      ],
      wide,
    );
    expect(sentence).toMatch(/^At 0\.1 a second: too few seeds to tell \(program times plas 0\.80 \(/);
    expect(sentence).toMatch(/\nKeep pass-through for now: these runs cannot tell\.$/);
  });

  it('leaves out loads that overload every setting, and settings that are overloaded', () => {
    const grown =
      (...all: number[]) =>
      (_: unknown, at: number) => ({ queue_grew: all.includes(at) });
    const table = [[10, 10, 10, 5], [20, 20, 14, 9], [400, 205, 200, 90]]; // prettier-ignore
    expect(
      outcome(table, grown(8, 9, 10, 11))
        .sentence.split('\n')
        .slice(0, 3),
    ).toEqual([
      // prettier-ignore
      'At 0.1 a second: no difference.',
      expect.stringMatching(/^At 0\.2 a second: plas, programs 30 % faster/),
      'plas pays at 0.2 a second, the only load that shows it.',
    ]);
    expect(outcome(table, grown(8, 10)).sentence).toMatch(
      /At 0\.4 a second: fcfs-window, programs 2\.0x faster.*; pass-through is overloaded, so the factor grows/,
    );
    expect(outcome(table, grown(...Array(12).keys()))).toBeUndefined();
  });
});
