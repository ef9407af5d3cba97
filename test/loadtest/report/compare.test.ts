import { describe, expect, it } from 'vitest';
import { MARGIN } from '../../../lab/measure/comparison.js';
import { compareDocuments, ComparisonError, makeReporter } from '../../../loadtest/report/index.js';
import { adviceOf } from '../../../loadtest/report/advice.js';
import { Dice } from '../../../workloads/dice.js';
import { call, options, program, summary } from './made-up.js';

const NAMES = ['before', 'after'] as const;
const SETTINGS = { workload: 'mixed', rate_per_second: 2, seed: 1, repeat: 3, margin: 0.02 };

interface Made {
  readonly runs?: number;
  readonly ratio?: number;
  readonly settings?: object;
  readonly targets?: readonly string[];
}

/** The document of runs of 24 programs of about 100 s times the ratio, as it comes back from its file. */
function document({ runs = 3, ratio = 1, settings = {}, targets = ['http://127.0.0.1:1'] }: Made = {}) {
  const reporter = makeReporter(options({ targets, quiet: true, settings: { ...SETTINGS, ...settings } }));
  const dice = new Dice(3);
  for (let index = 0; index < 24 * runs; index += 1) {
    const run = Math.floor(index / 24);
    const endedMs =
      100_000 * (1 + 0.3 * dice.share()) * ratio * (ratio === 1 ? 1 : 1 + 0.003 * Dice.of(5, run).normal());
    reporter.callEnded(call({ run, firstTokenMs: endedMs / 10, endedMs }));
    reporter.programEnded(program({ run, index, endedMs }));
  }
  return JSON.parse(JSON.stringify(reporter.report(summary({ runs })))) as Record<string, unknown>;
}

const compared = (first: Made, other: Made) => compareDocuments(document(first), document(other), NAMES, MARGIN)[0]!;

describe('the comparison of two documents', () => {
  it('pairs the runs of equal loads', () => {
    const { ab, warnings, targets } = compared({}, { ratio: 0.5, settings: { repeat: 4, margin: 0.1 } });
    const mean = { ratio: expect.closeTo(0.5, 2) as number, pairs: 3 };
    expect(ab).toMatchObject({ runs: 3, program_seconds: { mean } });
    expect(ab.program_seconds.mean.low).toBeLessThan(ab.program_seconds.mean.ratio!);
    expect(ab.outcome).toMatch(/^after: programs 2.0x faster than before/);
    expect([warnings, targets.map(({ name }) => name)]).toEqual([[], [...NAMES]]);
  });

  it('asks for both again where one run each tells too little, also of documents without a newer field', () => {
    const old = document({ runs: 1, ratio: 0.5 }) as { targets: [object] };
    const targets = old.targets.map((each) => ({ ...each, queue_grew: true, ended_per_second: undefined }));
    const [told] = compareDocuments(document({ runs: 1 }), { ...old, targets }, NAMES, MARGIN);
    expect(adviceOf(told!)).toEqual([
      'before: not known without a baseline whether it kept up with 2 a second.',
      expect.stringMatching(/^after: overloaded: 2 a second came and [\d.]+ ended meanwhile/),
      'To tell which is better, run both again with --rate 2 --repeat 3: about 6 min.',
    ]);
  });

  it('takes the shortest time alone as the base of all slowdowns', () => {
    const alone = (seconds: number) => {
      const made = document() as { targets: [object] };
      return {
        ...made,
        targets: made.targets.map((each) => ({
          ...each,
          alone_seconds: seconds,
          slowdown: { count: 72, mean: 3, p50: null },
        })),
      };
    };
    const { targets } = compareDocuments(alone(4), alone(6), NAMES, MARGIN)[0]!;
    expect(targets.map(({ alone_seconds: base, slowdown }) => [base, slowdown])).toEqual([
      [4, { count: 72, mean: 3, p50: null }],
      [4, { count: 72, mean: 4.5, p50: null }],
    ]);
  });

  it('is refused for unequal loads, and names what differs', () => {
    expect(() => compared({}, { settings: { rate_per_second: 4, stream: true } })).toThrow(
      new ComparisonError('the loads differ: rate_per_second 2 -> 4, stream - -> true'),
    );
  });

  it('is refused for anything else than documents of one target each', () => {
    const good = document();
    const two = document({ targets: ['http://127.0.0.1:1', 'http://127.0.0.1:2'] });
    const [target] = good['targets'] as [object];
    const old = { ...good, targets: [{ ...target, by_run: undefined }] };
    const mistaken = 'is no document of maitred load --json, or one of an older version';
    const why: [unknown, string][] = [
      ...[null, [], {}, 'x', old, { ...good, version: 2 }].map((bad): [unknown, string] => [bad, mistaken]),
      [two, 'has two targets, compared already: compare documents of one target each'],
      [{ ...good, complete: false }, 'is of a run that was stopped: measure it again'],
      [{ version: 1, complete: false, loads: [good] }, 'is of a run that was stopped: measure it again'],
    ];
    for (const [bad, told] of why) {
      expect(() => compareDocuments(bad, good, NAMES, MARGIN)).toThrow(new ComparisonError(`before ${told}`));
      expect(() => compareDocuments(good, bad, NAMES, MARGIN)).toThrow(new ComparisonError(`after ${told}`));
    }
  });
});
