import { describe, expect, it } from 'vitest';
import { makeReporter, parseSlo, summaryOf, type LoadDocument } from '../../../loadtest/report/index.js';
import { adviceOf as advice } from '../../../loadtest/report/advice.js';
import { isOverload } from '../../../loadtest/report/target.js';
import { fieldsTold, readText } from '../../support/tree.js';
import { call, options, playRun, program, summary } from './made-up.js';

const BOTH = ['http://127.0.0.1:8000', 'http://127.0.0.1:8001'];
const FACTS = BOTH.map((url) => ({
  ...{ url, model: 'm', server: 'vllm 0.32.0', policy: 'plas', maxModelLen: 8192, tokenizer: 'tokenize' as const },
  ...{
    isExact: true,
    ignoresEos: true,
    alone: undefined,
    waitedMs: 0,
    engines: [],
    speed: 1,
    promptTokensWanted: 10,
    promptTokensCounted: 10,
    goneMs: undefined,
    disturbances: [],
  },
}));

describe('the document', () => {
  it('has the measures that docs/JSON.md lists, of each target', () => {
    const reporter = makeReporter(options());
    const [target] = reporter.report(summary()).targets;
    const [, chapter = ''] = readText('docs/JSON.md').split(/^## /m);
    expect(Object.keys(target!)).toEqual(expect.arrayContaining(fieldsTold(chapter)));
  });

  it('tells of a run that was stopped before anything ended', () => {
    const reporter = makeReporter(options({ targets: BOTH }));
    const document = reporter.report(summary({ complete: false, programsUnfinished: 3 }));
    const { complete, targets, ab } = document;
    expect([complete, targets.map(({ programs }) => programs), ab?.pairs]).toEqual([false, [0, 0], 0]);
    expect(summaryOf(document, 100)).toMatch(
      /^Partial: stopped with 3 programs under way.* Ratios are of the programs that ended at both/,
    );
    expect(summaryOf(document, 100)).not.toContain('program, s');
  });

  it('checks the base of slowdowns by the programs themselves, so that a wrong one hides no overload', () => {
    /** Four programs a second, of which three are served; alone each takes 4 s. */
    const told = (estimatedMs: number, queueMs: (index: number) => number) => {
      const reporter = makeReporter(options());
      for (let index = 0; index < 800; index += 1) {
        const [arrivedMs, waitedMs] = [250 * index, 83 * index];
        const endedMs = arrivedMs + waitedMs + 4000;
        reporter.programEnded(program({ index, arrivedMs, endedMs, queueMs: queueMs(index), aloneMs: estimatedMs }));
      }
      const { warnings, targets } = reporter.report(summary());
      return { warnings, ...targets[0]! };
    };
    // The last arrives at 199.75 s, when three of four have ended.
    const right = { alone_seconds: 4, queue_grew: true, ended_per_second: 588 / 199.75, warnings: [] };
    expect(told(4000, () => NaN)).toMatchObject(right);
    // By the fastest programs, and by the time outside queues.
    const wrong = told(27_000, () => NaN);
    expect(wrong).toMatchObject({
      queue_grew: true,
      warnings: [expect.stringMatching(/^Something slowed the short calls.*as little as 0\.268/)],
    });
    expect(wrong.alone_seconds! * wrong.slowdown.mean!).toBeCloseTo(wrong.program_seconds.mean!);
    expect(told(27_000, (index) => 83 * index).alone_seconds).toBeCloseTo(4);
  });
});

describe('the summary', () => {
  it('names what failed, what was missed and what to beware of', () => {
    const slos = [parseSlo('completed < 0', 2, () => '')];
    const reporter = makeReporter(options({ targets: BOTH, slos }));
    playRun(reporter, { programs: 120, targets: 2 });
    const document = reporter.report(summary({ targets: FACTS, warnings: ['The load tester itself was slow.'] }));
    const { ab } = document;
    const text = summaryOf(document, 120);
    for (const part of [
      ab!.outcome,
      'SLO completed < 0 of B: missed (114).',
      'Warning: The load tester',
      'http_503',
      'chat',
      'of it, on average',
    ])
      expect(text).toContain(part);
    expect(
      Math.max(
        ...text
          .split('\n')
          .filter((line) => !/[.:]/.test(line))
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(120);
    const told = (outcome: string) => summaryOf({ ...document, ab: { ...ab!, outcome, runs: 3 } }, 120);
    expect(told('B: programs 2.0x faster than A (0.50, 0.40–0.60).')).toMatch(/\nIn brackets: .*\n$/);
    expect(told('Not comparable: e1 is down behind http://b.')).not.toContain('In brackets');
  });

  it.each([
    [5, 'max', 'Programs'],
    [20, 'max', `2 of 20 programs failed at ${BOTH[0]} \\(5x http_503, 5x broken_stream\\); the others`],
    [150, 'p99', `6 of 150 programs failed at ${BOTH[0]} \\(15x http_503, 15x broken_stream\\); the others`],
  ])('of %d programs names their %s, after those that failed', (programs, tail, begin) => {
    const reporter = makeReporter(options({}));
    playRun(reporter, { programs, targets: 1 });
    const text = summaryOf(reporter.report(summary({})), 120);
    expect(text).toMatch(
      new RegExp(`^${begin} took .* on average, a mean slowdown of about \\d(\\.\\d)?; ${tail} [\\d.]+ s\\.\n`),
    );
  });

  it('says when a single target went away, of whose failed programs no figure is, and asks for no other load', () => {
    const reporter = makeReporter(options({ speed: 2 }));
    playRun(reporter, { programs: 150, targets: 1 });
    reporter.programEnded(program({ index: 150, aloneMs: 0, outcome: 'unreachable' }));
    const document = reporter.report(summary({ targets: [{ ...FACTS[0]!, goneMs: 7000 }] }));
    const slow = { ...document.targets[0]!, queue_grew: null, arrivals_seconds: 8, alone_seconds: 12 };
    expect(summaryOf(document, 120)).toMatch(
      /^7 of 151 programs failed at \S+ \(15x http_503, 15x broken_stream\), which went away 14 s after the beginning; the others took/,
    );
    expect(document.targets[0]!.alone_seconds).toBe(24);
    expect(advice({ ...document, targets: [slow] })).toEqual(['Bring it back and run again.']);
    const left = { ...slow, gone_after_seconds: null, engine_left: 'e1 is down' };
    expect(summaryOf({ ...document, targets: [left] }, 120)).toMatch(
      /^e1 is down behind http:\S+, so the times are not those of all its engines; 7 of 151 programs failed at \S+ \(.*\)\.\nBring it back and run again\.\n\n/,
    );
    const stayed = { ...slow, gone_after_seconds: null };
    expect(advice({ ...document, settings: { rate_per_second: 1 }, targets: [stayed] })).toEqual([
      expect.stringContaining('Too few programs'),
    ]);
    expect(advice({ ...document, complete: false, targets: [stayed] })).toEqual([]);
  });
});

describe('the advice', () => {
  /** @param waitsMs of the calls at the second target; at the first none waits. */
  function adviceOf(waitsMs: readonly number[], policies: readonly (string | undefined)[], targets = 2) {
    const settings = { arrivals: 'closed', concurrency: 8 };
    const reporter = makeReporter(options({ settings, targets: BOTH.slice(0, targets), isClosed: true }));
    for (const queueMs of waitsMs)
      for (let target = 0; target < targets; target += 1)
        reporter.callEnded(call({ target, queueMs: target === 0 ? 0 * queueMs : queueMs }));
    return advice(
      reporter.report(summary({ targets: FACTS.map((facts, at) => ({ ...facts, policy: policies[at] })) })),
    )[0];
  }
  const few = Array.from({ length: 100 }, (_, at) => (at < 5 ? 900 : 0));

  it('is a higher load where no call waited at the gateway, or few did', () => {
    expect(adviceOf([0, 0], ['plas', 'plas'])).toMatch(/^At most 5 of 100 calls waited.*--concurrency above 8\.$/);
    expect(adviceOf(few, ['plas', 'plas'])).toMatch(/^At most 5 of 100.*--concurrency above 8\.$/);
    expect(adviceOf([...few, 900], ['plas', 'plas'])).toMatch(/^Many of so few/);
  });

  it('is none for a pass-through, where no call can wait, nor for a server that reports no waits', () => {
    for (const told of [
      adviceOf([...few, 900], ['pass-through', 'plas']),
      adviceOf([0, 0], ['pass-through'], 1),
      adviceOf([NaN], [undefined, undefined]),
    ])
      expect(told).not.toMatch(/waited/);
  });
});

describe('a queue that seems to grow', () => {
  const of = (mean: number | null) => ({ count: 90, mean, p50: mean, p95: mean, p99: mean, max: mean });
  const signs = (lasted: number, seconds: number, queue: number | null, slowdown: number | null) => ({
    ...{ arrivals_seconds: lasted, alone_seconds: 4, slowdown: of(slowdown) },
    ...{ program_seconds: of(seconds), program_queue_seconds: of(queue) },
  });

  it.each([
    ['of arrivals that were too short', true, signs(8.6, 5.3, 0.0000333, 1.32), null],
    ['of arrivals that were too short, although programs wait', true, signs(8.6, 40, 30, 10), null],
    ['without waits, of programs that are hardly slowed', true, signs(60, 5.3, 0.0000333, 1.32), false],
    ['with waits', true, signs(64, 8, 2, 1.9), true],
    ['with waits, of arrivals during which engines may still fill', true, signs(60, 8, 2, 1.9), null],
    ['at an engine that reports no waits', true, signs(60, 20, null, 5), true],
    ['but does not', false, signs(160, 20, 10, 5), false],
    ['but does not, at engines that may still fill', false, signs(50, 9.96, 2.65, 2.04), null],
    ['of too few programs', null, signs(60, 20, 10, 5), null],
  ])('%s: %s', (_, grew, given, verdict) => {
    expect(isOverload(grew, given)).toBe(verdict);
  });
});

it('the advice on one run of two targets is to repeat it, and on few programs at a time more of them, unless it was cut', () => {
  const of = (concurrency: number) => {
    const reporter = makeReporter(options({ targets: BOTH, settings: { arrivals: 'closed', concurrency } }));
    playRun(reporter, { programs: 20, targets: 2 });
    return reporter;
  };
  const reporter = of(2);
  const again = 'run again with --concurrency';
  expect(advice(reporter.report(summary()))).toEqual([`To tell which is better, ${again} 2 --repeat 3: about 3 min.`]);
  expect(advice(of(3).report(summary()))).toEqual([
    `Many of so few programs fill or empty the engines: ${again} 3 --programs 30 --repeat 3: about 5 min.`,
  ]);
  expect(advice(reporter.report(summary({ complete: false })))).toEqual([]);
  const busy = ['This machine was too busy: 1 % of calls went out 5.25 s late or more.'];
  expect(advice(reporter.report(summary({ warnings: busy })))).toEqual([
    'This machine was too busy to tell which is better: run again on an idle one.',
  ]);
});

describe('advice on overload', () => {
  const grown = {
    name: 'A',
    queue_grew: true,
    ended_per_second: 0.2,
    programs_per_second: 0.17,
    by_run: [{}],
    policy: 'pass-through',
  };
  const slowed = {
    ...{ queue_grew: null, programs: 80, by_run: [{}], queue_seconds: { count: 1, max: 0 } },
    ...{ arrivals_seconds: 50, alone_seconds: 4.9, slowdown: { mean: 2.04 }, program_seconds: { mean: 9.96 } },
  };

  const refusing = { ...slowed, completed: 15, failed: 65 };

  it.each([
    [
      { rate_per_second: 0.8, arrivals: 'open' },
      grown,
      'Overloaded: 0.8 a second came and 0.2 ended meanwhile: the queue kept growing, so times grow with the number of programs.',
      'Try --rate 0.053..0.21.',
    ],
    // The rate of a recording is that of its programs, by the gaps between them.
    [
      { rate_per_second: null, arrivals: 'trace' },
      { ...grown, arrivals_seconds: 98.75, programs: 80 },
      'Overloaded: 0.8 a second came and 0.2 ended meanwhile: the queue kept growing, so times grow with the number of programs.',
      'Try --rate 0.053..0.21.',
    ],
    // More programs than a recording has come at a rate.
    [
      { rate_per_second: null, arrivals: 'trace', trace_speed: 4 },
      { ...slowed, programs: 21, arrivals_seconds: 66.6, slowdown: { mean: 1.1 } },
      'Too few programs to tell whether 0.3 a second can be sustained: run again with --rate 0.3 --programs 80, and no --trace-speed: about 4 min.',
    ],
    [
      { rate_per_second: 8 },
      { ...refusing, errors: { http_503: 60, broken_stream: 5 } },
      'Did not keep up with 8 a second, as more than 1 % of its programs failed.',
      'Try --rate 1.5..8.',
    ],
    [{ concurrency: 16 }, { ...refusing, errors: { http_429: 65 } }, 'Try --concurrency 3..16.'],
    [{ concurrency: 1 }, { ...refusing, errors: { http_429: 65 } }, 'Find out why its calls fail, and run again.'],
    [
      { concurrency: 16 },
      { ...refusing, errors: { timeout: 5, wrong_content: 60 } },
      'Find out why its calls fail, and run again.',
    ],
    [
      { rate_per_second: 8 },
      { ...slowed, policy: 'pass-through', arrivals_seconds: 160, completed: 80, failed: 0 },
      'Kept up with 8 a second.',
    ],
    [
      { rate_per_second: 8 },
      { ...slowed, policy: 'pass-through', alone_seconds: null, completed: 80, failed: 0 },
      'Not known without a baseline whether it kept up with 8 a second.',
    ],
    [
      { rate_per_second: 8 },
      { ...slowed, arrivals_seconds: 160, completed: 79, failed: 1 },
      'Did not keep up with 8 a second, as more than 1 % of its programs failed.',
    ],
    // And no higher load, although no call waited.
    [
      { rate_per_second: 1.6 },
      slowed,
      'Too few programs to tell whether 1.6 a second can be sustained: run again with --rate 1.6 --programs 260: about 3 min.',
    ],
    // A lower rate tells sooner.
    [
      { rate_per_second: null, arrivals: 'trace', trace_speed: 4 },
      { ...slowed, programs: 24, arrivals_seconds: 11, slowdown: { mean: 3.9 }, program_seconds: { mean: 48 } },
      'Too few programs to tell whether 2.1 a second can be sustained: run again with --rate 2.1 --programs 1680, and no --trace-speed: about 59 min. Try --rate 0.53 --programs 80 first, as programs took 3.9 times as long as alone.',
    ],
    // It is so slowed that an overload would be told as soon as programs arrive for five times one's time alone.
    [
      { rate_per_second: 5 },
      { ...slowed, arrivals_seconds: 20, slowdown: { mean: 7 }, program_seconds: { mean: 34 } },
      'Too few programs to tell whether 5 a second can be sustained: run again with --rate 5 --programs 130: about 2 min.',
    ],
  ])('of %j', (settings, target, ...told) => {
    expect(
      advice({ complete: true, settings, targets: [target], ab: null, elapsed_seconds: 50 } as unknown as LoadDocument),
    ).toEqual(told);
  });

  it('names no lower rate where one of two targets keeps up', () => {
    const keeps = { ...slowed, name: 'B', arrivals_seconds: 160, completed: 80, failed: 0 };
    const of = { complete: true, settings: { rate_per_second: 0.8 }, targets: [grown, keeps] };
    expect(advice(of as unknown as LoadDocument)).toEqual([
      'A: overloaded: 0.8 a second came and 0.2 ended meanwhile: the queue kept growing, so times grow with the number of programs.',
      'B: kept up with 0.8 a second.',
    ]);
  });
});
