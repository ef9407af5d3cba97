import { Dice } from '../../../workloads/dice.js';
import type { LoadProgress, LoadCallRecord, LoadObserver, LoadProgramRecord } from '../../../loadtest/load.js';
import type { LoadSummary } from '../../../loadtest/runs.js';
import type { ReporterOptions } from '../../../loadtest/report/index.js';

/** Records, summaries and options of runs that never were; what a test is about, it says itself. */

export const call = (given: Partial<LoadCallRecord> = {}): LoadCallRecord => ({
  target: 0,
  run: 0,
  program: 'p0',
  workload: '',
  call: 0,
  thread: '',
  arrivedMs: 0,
  sentMs: 0,
  dispatchedMs: NaN,
  firstTokenMs: 100,
  endedMs: 1000,
  engine: undefined,
  promptTokens: 100,
  outputTokens: 10,
  cachedTokens: NaN,
  outcome: 'completed',
  queueMs: NaN,
  ...given,
});

export const program = (given: Partial<LoadProgramRecord> = {}): LoadProgramRecord => ({
  target: 0,
  run: 0,
  index: 0,
  program: `p${given.index ?? 0}`,
  workload: '',
  arrivedMs: 0,
  endedMs: 1000,
  calls: 1,
  callsCancelled: 0,
  promptTokens: 100,
  outputTokens: 10,
  longestQueueMs: 0,
  aloneMs: NaN,
  outcome: 'completed',
  queueMs: NaN,
  engineMs: NaN,
  toolMs: NaN,
  ...given,
});

export const summary = (given: Partial<LoadSummary> = {}): LoadSummary => ({
  startedAt: new Date('2026-11-21T12:00:00Z'),
  elapsedMs: 60_000,
  complete: true,
  runs: 1,
  programsUnfinished: 0,
  targets: [],
  generator: {
    cpu_share: 0.15,
    loop_lag_ms: { mean: 0.3, p99: 1.2, max: 6 },
    late_send_ms: { mean: 0.2, p99: 1.1, max: 4 },
    calls_in_flight_max: 31,
  },
  warnings: [],
  ...given,
});

/** What a reporter wrote to one of its two streams. */
export class Written {
  text = '';

  constructor(
    readonly isTTY = false,
    readonly columns = 100,
  ) {}

  write(text: string): void {
    this.text += text;
  }
}

export const options = (given: Partial<ReporterOptions> = {}): ReporterOptions => ({
  settings: { workload: 'mixed', rate_per_second: 2, seed: 1 },
  targets: ['http://127.0.0.1:8000'],
  seed: 1,
  margin: 0.02,
  speed: 1,
  isClosed: false,
  slos: [],
  quiet: false,
  out: new Written(),
  err: new Written(),
  ...given,
});

export const progress = (given: Partial<LoadProgress> = {}): LoadProgress => ({
  elapsedMs: 1000,
  programsStarted: 10,
  programsEnded: 4,
  programsTotal: 40,
  runs: 1,
  callsInFlight: 7,
  ...given,
});

/** Programs of five calls each through one or two targets, the second with shorter queues; two of fifty fail. */
export function playRun(observer: LoadObserver, { programs, targets }: { programs: number; targets: number }): void {
  for (let index = 0; index < programs; index += 1)
    for (let target = 0; target < targets; target += 1) {
      const dice = Dice.of(1, index);
      const outcome = { 7: 'http_503', 8: 'broken_stream' }[index % 50] ?? 'completed';
      const start = 800 * index;
      const waits = Array.from({ length: 5 }, () => dice.logNormal(1500, 9000) / (target + 1));
      for (const [at, queueMs] of waits.entries()) {
        const sentMs = start + 4000 * at;
        const [dispatchedMs, endedMs] = [sentMs + queueMs, sentMs + queueMs + 2000];
        const times = { arrivedMs: sentMs, sentMs, dispatchedMs, firstTokenMs: dispatchedMs + 250, endedMs };
        observer.callEnded(call({ target, program: `p${index}`, call: at, ...times, queueMs, outcome }));
      }
      const queueMs = waits.reduce((sum, each) => sum + each, 0);
      const spent = { queueMs, engineMs: 10_000, toolMs: 2000, aloneMs: 12_000 };
      const times = { arrivedMs: start, endedMs: start + queueMs + 12_000, longestQueueMs: Math.max(...waits) };
      const workload = ['chat', 'react', 'mcts'][index % 3]!;
      observer.programEnded(program({ target, index, workload, calls: 5, ...times, ...spent, outcome }));
    }
}
