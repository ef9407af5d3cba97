import { describe, expect, it } from 'vitest';
import { makeReporter, summaryOf } from '../../../loadtest/report/index.js';
import { call, options, program, summary } from './made-up.js';

/** The only target's report of what `play` does to it. */
function reportOf(play: (reporter: ReturnType<typeof makeReporter>) => void) {
  const reporter = makeReporter(options());
  play(reporter);
  return reporter.report(summary()).targets[0]!;
}

describe('a report', () => {
  it('tells where the time of programs went', () => {
    const report = reportOf((reporter) => {
      const split = { queueMs: 250, engineMs: 500, toolMs: 300, longestQueueMs: 150, aloneMs: 800 };
      reporter.programEnded(program({ index: 0, endedMs: 1000, ...split }));
      reporter.programEnded(program({ index: 1, endedMs: 3000, ...split, queueMs: 2250, longestQueueMs: 1700 }));
    });
    expect(report).toMatchObject({
      programs: 2,
      completed: 2,
      program_seconds: { mean: 2, p50: 1, p95: 3, max: 3 },
      program_queue_seconds: { mean: 1.25 },
      program_engine_seconds: { mean: 0.5 },
      program_tool_seconds: { mean: 0.3 },
      slowdown: { p50: 1.25, max: 3.75 },
      worst_waiting: { program: 'p1', seconds: 1.7 },
    });
  });

  it('is in real time of a load that is played faster', () => {
    const reporter = makeReporter(options({ speed: 8 }));
    reporter.callEnded(call({ firstTokenMs: 250, endedMs: 500, queueMs: 100, outputTokens: 11 }));
    reporter.programEnded(program({ endedMs: 500, aloneMs: 250, queueMs: 100, engineMs: 300, toolMs: 100 }));
    const document = reporter.report(summary());
    expect(summaryOf(document, 200)).toMatch(/ms\/token[^]*\ball(?: +[\d.]+){9} +400 /);
    expect(document.targets[0]).toMatchObject({
      program_seconds: { mean: 4 },
      program_queue_seconds: { mean: 0.8 },
      ttft_seconds: { mean: 2 },
      inter_token_seconds: { mean: 0.2 },
      queue_seconds: { mean: 0.8 },
      slowdown: { mean: 2 },
      programs_per_second: 0.25,
      output_tokens: 11,
    });
  });

  it('has rates over the sum of the runs of each target, without its waits for the slower one', () => {
    const reporter = makeReporter(options({ targets: ['http://127.0.0.1:1', 'http://127.0.0.1:2'] }));
    for (const [run, startMs] of [0, 30_000].entries())
      for (const [target, tookMs] of [10_000, 30_000].entries())
        for (const arrivedMs of [startMs, startMs + 4000])
          reporter.programEnded(program({ run, target, arrivedMs, endedMs: startMs + tookMs }));
    const { targets } = reporter.report(summary({ runs: 2 }));
    expect(targets.map((each) => [each.makespan_seconds, each.programs_per_second])).toEqual([
      [20, 4 / 20],
      [60, 4 / 60],
    ]);
  });

  it('counts failures by class, and times only what completed', () => {
    const report = reportOf((reporter) => {
      reporter.callEnded(call({ firstTokenMs: 250 }));
      reporter.callEnded(call({ outcome: 'http_429', endedMs: 9000, detail: 'slow down' }));
      reporter.callEnded(call({ outcome: 'http_429', endedMs: 9000 }));
      reporter.callEnded(call({ outcome: 'broken_stream', endedMs: 9000 }));
      reporter.programEnded(program({ outcome: 'http_429', endedMs: 9000, callsCancelled: 4 }));
    });
    expect(report).toMatchObject({ calls: 4, calls_failed: 3, calls_cancelled: 4, programs: 1, failed: 1 });
    expect(report.errors).toMatchObject({ http_429: 2, broken_stream: 1, http_503: 0, unreachable: 0 });
    expect(report.error_examples).toEqual({ http_429: 'slow down' });
    expect(report.ttft_seconds).toMatchObject({ mean: 0.25, max: 0.25 });
    expect(report.program_seconds.mean).toBeNull();
  });

  it('sums what was found in caches, of calls that tell', () => {
    const cached = (...tokens: number[]) =>
      reportOf((reporter) => tokens.forEach((cachedTokens) => reporter.callEnded(call({ cachedTokens }))))
        .cached_tokens;
    expect([cached(64, NaN, 32), cached(0), cached(NaN)]).toEqual([96, 0, null]);
  });

  it('counts a late send as the target’s users would have felt it, and of the queue what the gateway says alone', () => {
    const report = reportOf((reporter) => {
      reporter.callEnded(call({ arrivedMs: 0, sentMs: 900, dispatchedMs: 900, queueMs: 0, firstTokenMs: 1000 }));
      reporter.callEnded(call({ arrivedMs: 0, sentMs: 500, dispatchedMs: 750, queueMs: 250, firstTokenMs: 1000 }));
    });
    expect(report.ttft_seconds.mean).toBe(1);
    expect(report.queue_seconds).toMatchObject({ mean: 0.125, max: 0.25 });
  });

  it('says nothing of what nobody told: queues without a gateway, slowdown without a baseline', () => {
    const report = reportOf((reporter) => {
      reporter.callEnded(call({ firstTokenMs: NaN }));
      reporter.programEnded(program());
    });
    for (const field of ['queue_seconds', 'slowdown', 'program_queue_seconds', 'ttft_seconds'] as const)
      expect(report[field]).toEqual({ count: 0, mean: null, p50: null, p95: null, p99: null, max: null });
    expect([report.jain_index, report.worst_waiting, report.by_workload]).toEqual([null, null, {}]);
  });
});
