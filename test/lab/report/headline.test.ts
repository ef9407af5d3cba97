import { describe, expect, it } from 'vitest';
import type { Ratio } from '../../../lab/measure/comparison.js';
import { type Change, headline } from '../../../lab/report/headline.js';

const of = (ratio: number | null, low: number | null = ratio, high: number | null = ratio): Ratio => ({
  ratio,
  low,
  high,
  pairs: 3,
});
const change = (given: Partial<Change> = {}): Change => ({
  name: 'plas',
  against: 'pass-through',
  programs: { mean: of(0.4, 0.37, 0.43), p50: of(0.3), p95: of(0.5), p99: of(0.5) },
  firstToken: { p50: of(1 / 2.1), p99: of(5.65) },
  firstTokenP99Seconds: [0.8, 4.52],
  counts: { programs: 600, calls: 5000 },
  cached: [0.17, 0.828],
  failed: [0, 0],
  single: 'one seed',
  ...given,
});
const programs = (mean: Ratio, p99 = of(1), p50 = of(1), p95 = p99) => ({ programs: { mean, p50, p95, p99 } });

describe('the sentence of a comparison', () => {
  it('tells what got worse beside what got better, and why', () => {
    expect(headline(change())).toBe(
      'plas: programs 2.5x faster than pass-through (0.40, 0.37–0.43); first token p50 2.1x faster, p99 5.7x slower (0.8 -> 4.52 s); prompts cached 17 -> 83 %.',
    );
  });

  it('names the seconds of a change that may be chance beside its interval', () => {
    const perhaps = { firstToken: { p50: of(0.5), p99: of(2.9, 0.89, 9.42) } };
    expect(headline(change(perhaps))).toContain('p99 no certain difference (2.90, 0.89–9.42; 0.8 -> 4.52 s)');
  });

  it('names the interval of a change that is certain, but whose factor is not', () => {
    const wide = { firstToken: { p50: of(0.25, 0.1, 0.6), p99: of(7.08, 1.66, 30.2) } };
    expect(headline(change(wide))).toContain(
      'first token p50 4.0x faster (0.25, 0.10–0.60), p99 7.1x slower (7.08, 1.66–30.2; 0.8 -> 4.52 s);',
    );
  });

  it('knows the slow programs that pay for the others', () => {
    expect(headline(change(programs(of(0.9), of(1.3))))).toContain('(0.90, 0.90–0.90), p99 30 % slower;');
    // Where chance hides the slowest.
    const hidden = programs(of(1), of(1.3, 0.9, 1.9), of(1), of(1.1));
    expect(headline(change(hidden))).toContain('(1.00, 1.00–1.00), p95 10 % slower;');
  });

  it('tells a tail that does not go the way of the mean, unless of few programs', () => {
    const told = (mean: Ratio, p99: Ratio) => headline(change(programs(mean, p99)));
    expect(told(of(0.4), of(1.21, 0.81, 1.83))).toContain(
      '(0.40, 0.40–0.40), p99 no certain difference (1.21, 0.81–1.83);',
    );
    expect(told(of(1), of(0.5))).toContain('(1.00, 1.00–1.00), p99 2.0x faster;');
    expect(told(of(0.4), of(0.5))).toContain('(0.40, 0.40–0.40); first token');
    expect(headline(change({ ...programs(of(0.4), of(1)), counts: { programs: 99, calls: 900 } }))).not.toContain(
      'slowest',
    );
  });

  it('knows the median and the time per token that pay', () => {
    const told = (mean: Ratio) => headline(change({ ...programs(mean, of(1), of(1.08)), perToken: of(1.1) }));
    expect(told(of(0.9))).toContain(
      '(0.90, 0.90–0.90), ms/token 10 % slower, p50 8 % slower, p99 the same; first token',
    );
    // Of a slower mean it is no news.
    expect(told(of(1.2))).toContain('(1.20, 1.20–1.20); first token');
    expect(headline(change(programs(of(1.1), of(4.7))))).toContain('(1.10, 1.10–1.10), p99 4.7x slower;');
  });

  it('tells a median that is much sooner where the mean is not', () => {
    expect(headline(change(programs(of(1, 0.9, 1.1), of(1), of(0.05))))).toContain(
      '(1.00, 0.90–1.10; too few seeds to tell), p50 20x faster;',
    );
    expect(headline(change(programs(of(1, 0.9, 1.1), of(1), of(0.7))))).not.toContain('p50 30');
    expect(headline(change(programs(of(0.5), of(1), of(0.05))))).not.toContain('p50 20x');
  });

  const UNSURE = 'programs: no certain difference from pass-through';
  it.each([
    [of(1, 0.99, 1.01), 'programs within 2 % of pass-through (1.00, 0.99–1.01)'],
    [of(0.97, 0.96, 0.985), `${UNSURE} (0.97, 0.96–0.98; about 5 seeds would tell)`],
    [of(1.08, 0.97, 1.2), `${UNSURE} (1.08, 0.97–1.20; about 7 seeds would tell)`],
    [of(1.02, 1.01, 1.03), 'programs not faster than pass-through (1.02, 1.01–1.03)'],
    [of(0.99, 0.88, 1.11), `${UNSURE} (0.99, 0.88–1.11; too few seeds to tell)`],
    [{ ...of(0.99, 0.88, 1.11), pairs: 8 }, `${UNSURE} (0.99, 0.88–1.11; treat them as equal)`],
    [{ ...of(1.08, 0.97, 1.2), pairs: 16 }, `${UNSURE} (1.08, 0.97–1.20; too uneven to tell)`],
    [{ ...of(0.6, 0.32, 1.14), pairs: 28 }, `${UNSURE} (0.60, 0.32–1.14; too uneven to tell)`],
    [of(0.975, 0.8, 1.2), `${UNSURE} (0.97, 0.80–1.20; too few seeds to tell)`],
    [of(1.35, 1.2, 1.5), 'programs 35 % slower than pass-through (1.35, 1.20–1.50)'],
    [of(3, 2, 4), 'programs 3.0x slower than pass-through (3.00, 2.00–4.00)'],
    [
      of(0.4, null, null),
      'programs 2.5x faster than pass-through (0.40, one seed: may be chance), p99 1.00; first token p50 0.48, p99 5.65 (0.8 -> 4.52 s)',
    ],
    [of(1, null, null), 'programs within 2 % of pass-through (1.00, one seed: may be chance), p99 1.00'],
    [of(null), 'no comparison with pass-through: no program completed in both'],
  ])('claims no more than the interval holds: %o', (mean, words) => {
    expect(headline(change(programs(mean)))).toMatch(`plas: ${words};`);
  });

  it('of one run without chance is sure of itself', () => {
    const told = headline(change({ ...programs(of(0.4, null, null)), single: undefined }));
    expect(told).toContain('than pass-through (0.40), p99 the same;');
  });

  it('leaves out what nobody measured, and calls the p99 of few calls by its name', () => {
    const none = { p50: of(null, null), p99: of(null, null) };
    expect(headline(change({ firstToken: none, cached: [null, 0.5] }))).toBe(
      'plas: programs 2.5x faster than pass-through (0.40, 0.37–0.43).',
    );
    expect(headline(change({ counts: { programs: 12, calls: 99 } }))).toContain('slowest 5.7x slower (0.8');
    expect(headline(change({ firstTokenP99Seconds: [null, 4] }))).toContain('p99 5.7x slower; prompts');
    expect(headline(change({ failed: [0, 12] }))).toMatch(/^plas: failed programs 0 -> 12; programs 2\.5x faster/);
    expect(headline(change({ failed: [1 / 3, 2] }))).toMatch(/^plas: failed programs 0\.333 -> 2; /);
    expect(headline(change({ failed: [12, 12.3] }))).toMatch(/; failed programs 12 -> 12\.3\.$/);
  });

  it('takes a wider margin', () => {
    expect(headline(change(programs(of(0.93, 0.92, 0.94))), 0.1)).toContain('within 10 % of pass-through');
  });
});
