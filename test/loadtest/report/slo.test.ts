import { describe, expect, it } from 'vitest';
import { makeReporter, parseSlo, sloName } from '../../../loadtest/report/index.js';
import { call, options, playRun, program, summary } from './made-up.js';

const suggest = (word: string, known: readonly string[]) => ` [${word} of ${known.length}]`;
const parse = (text: string, targets = 1) => parseSlo(text, targets, suggest);

/** Whether each is met by programs of 1, 2, ... 10 s at each target, twice as long at the second. */
function judged(texts: readonly string[], targets = 1) {
  const urls = ['http://127.0.0.1:1', 'http://127.0.0.1:2'].slice(0, targets);
  const reporter = makeReporter(options({ targets: urls, slos: texts.map((text) => parse(text, targets)) }));
  for (let index = 0; index < 10; index += 1)
    for (let target = 0; target < targets; target += 1)
      reporter.programEnded(program({ index, target, endedMs: 1000 * (index + 1) * (target + 1), workload: 'chat' }));
  reporter.callEnded(call({ outcome: 'http_503' }));
  return reporter.report(summary()).slo;
}

describe('an objective', () => {
  it.each([
    ['program_seconds.p99 < 60', true],
    ['program_seconds.p99<10', false],
    ['program_seconds.p99 <= 10', true],
    ['program_seconds.max > 9.5', true],
    ['program_seconds.max < 0.2m', true],
    ['program_seconds.max<=9900ms', false],
    ['makespan_seconds <= 10s', true],
    ['  completed >= 1e1 ', true],
    ['errors.http_503 <= 0', false],
    ['errors.http_429 <= 0', true],
    ['by_size.3.program_seconds.p50 < 1', false],
    ['by_workload.chat.program_seconds.mean < 5.6', true],
    ['A.programs >= 10', true],
  ])('%s', (text, met) => {
    expect(judged([text])).toMatchObject([{ expression: text.trim(), target: 'A', met }]);
  });

  it('that was not measured is missed, whichever way it points', () => {
    const results = judged(['slowdown.mean < 2', 'slowdown.mean > 0', 'by_workload.mcts.programs >= 0']);
    expect(results.map(({ value, met }) => [value, met])).toEqual(Array(3).fill([null, false]));
  });

  it('holds for each of two targets, or for the one that it names', () => {
    const results = judged(['program_seconds.max < 15', 'B.program_seconds.max < 15', 'A.failed <= 0'], 2);
    expect(results.map(({ target, value, met }) => [target, value, met])).toEqual([
      ['A', 10, true],
      ['B', 20, false],
      ['B', 20, false],
      ['A', 0, true],
    ]);
    expect(results.slice(1, 3).map((result) => sloName(result, true))).toEqual([
      'SLO program_seconds.max < 15 of B',
      'SLO B.program_seconds.max < 15',
    ]);
  });

  it('may be about the comparison', () => {
    expect(judged(['ab.program_seconds.mean.ratio < 1.9', 'ab.pairs >= 10'], 2)).toMatchObject([
      { target: null, value: 2, met: false },
      { target: null, value: 10, met: true },
    ]);
  });

  it.each([
    ['', 'is not METRIC'],
    ['program_seconds.p99', 'is not METRIC'],
    ['program_seconds.p99 < ', 'is not METRIC'],
    ['program_seconds.p99 < 60d', 'is not METRIC'],
    ['failed < 60s', '"failed" is no time: give its limit without s'],
    ['program_seconds.count < 60s', 'is no time'],
    ['programs_per_second > 1s', 'is no time'],
    ['program_seconds.p90 < 60', 'it may end in .count, .mean, .p50, .p95, .p99, .max'],
    ['program_seconds.p99 == 60', 'is not METRIC'],
    ['program_seconds.p99 < NaN', 'is not METRIC'],
    ['60 > program_seconds.p99', 'is not METRIC'],
    ['process.exit() < 1', 'no metric'],
    ['__proto__.x < 1', 'no metric'],
    ['program_second.p99 < 1', 'no metric'],
    ['by_size.4.programs < 1', 'no metric'],
    ['B.programs < 1', 'there is no target B'],
    ['ab.pairs > 1', 'ab compares two'],
    ['url < 1', 'no metric'],
    ['A < 1', 'no metric'],
    ['A.ab.pairs < 1', 'no metric'],
    ['worst_waiting.seconds < 1', 'no metric'],
    ['program_seconds < 1', 'is not one number'],
    ['errors < 1', 'is not one number'],
    ['by_workload.chat < 1', 'is not one number'],
    ['A.by_size < 1', 'is not one number'],
  ])('is refused when it is "%s": %s', (text, why) => {
    expect(() => parse(text)).toThrow(why);
  });

  it('is offered words that may have been meant', () => {
    expect(() => parse('program_second.p99 < 1')).toThrow(/\[program_seconds\.p99 of \d{2,}\]/);
    expect(() => parseSlo('latency < 1', 1, () => '')).toThrow(/; such are program_seconds\.p95, /);
  });

  it('knows every number that a run tells', () => {
    const reporter = makeReporter(options());
    playRun(reporter, { programs: 60, targets: 1 });
    const [report] = reporter.report(summary()).targets;
    const numbers = (value: object, before: string): string[] =>
      Object.entries(value).flatMap(([name, child]: [string, unknown]) => {
        if (typeof child === 'number') return [before + name];
        return typeof child === 'object' && child !== null ? numbers(child, `${before}${name}.`) : [];
      });
    for (const path of numbers({ ...report!, worst_waiting: null, by_run: null }, '')) parse(`${path} < 1`);
  });
});
