import { Dice } from '../../../workloads/dice.js';
import type {
  LoadProgress,
  LoadSummary,
  LoadCallRecord,
  LoadObserver,
  LoadProgramRecord,
} from '../../../loadtest/load.js';
import type { ReporterOptions } from '../../../loadtest/report/index.js';

/** Records, summaries and options of runs that never were; what a test is about, it says itself. */

export const call = (given: Partial<LoadCallRecord> = {}): LoadCallRecord => ({
  target: 0,
  run: 0,
  program: 'p0',
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
  level: NaN,
  interTokenMs: 100,
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
  criticalPathMs: NaN,
  ...given,
});

export const summary = (given: Partial<LoadSummary> = {}): LoadSummary => ({
  startedAt: new Date('2026-11-21T12:00:00Z'),
  endedAt: new Date('2026-11-21T12:01:00Z'),
  elapsedMs: 60_000,
  complete: true,
  runs: 1,
  programsUnfinished: 0,
  programsTooLong: 0,
  targets: [],
  generator: {
    cpuMs: 9_000,
    cpuShare: 0.15,
    calls: 300,
    cpuMsPerCall: 30,
    loopLagMs: { mean: 0.3, p99: 1.2, max: 6 },
    lateSendMs: { mean: 0.2, p99: 1.1, max: 4 },
    callsInFlightMax: 31,
  },
  warnings: [],
  ...given,
});

/** What a reporter wrote to one of its two streams. */
export class Written {
  text = '';

  constructor(
    readonly isTTY = false,
    public columns = 100,
    public rows = 30,
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
  callsInFlight: 7,
  ...given,
});

/** Programs of a few calls each through one or two targets, the second with shorter queues; some calls fail. */
export function playRun(
  observer: LoadObserver,
  { programs, targets, seed = 1 }: { readonly programs: number; readonly targets: number; readonly seed?: number },
): void {
  // prettier-ignore
  for (let index = 0; index < programs; index += 1)
    for (let target = 0; target < targets; target += 1) playProgram(observer, Dice.of(seed, index), index, target);
}

function playProgram(observer: LoadObserver, dice: Dice, index: number, target: number): void {
  const name = `agent-${String(index).padStart(5, '0')}`;
  const count = Math.ceil(dice.logNormal(5, 18));
  const arrivedMs = 800 * index;
  let [now, queueMs, engineMs, toolMs, aloneMs, longestQueueMs] = [arrivedMs, 0, 0, 0, 0, 0];
  let [promptTokens, outputTokens, made] = [0, 0, 0];
  let outcome = 'completed';
  for (let at = 0; at < count && outcome === 'completed'; at += 1) {
    const tokens = Math.ceil(dice.logNormal(80, 400));
    const waited = dice.logNormal(target === 0 ? 1500 : 500, target === 0 ? 9000 : 4000);
    const gap = dice.logNormal(900, 5000);
    const side = dice.share() < 0.2 ? 2 : 1;
    const busy = 250 + tokens * 22;
    outcome = dice.share() < 0.004 ? (dice.share() < 0.5 ? 'http_503' : 'broken_stream') : 'completed';
    for (let branch = 0; branch < side; branch += 1) {
      observer.callEnded(
        call({
          target,
          program: name,
          call: made,
          arrivedMs: now,
          sentMs: now + 0.3,
          dispatchedMs: now + waited,
          queueMs: waited,
          firstTokenMs: now + waited + 250,
          endedMs: now + waited + busy * (1 - 0.3 * branch),
          promptTokens: 700 * (at + 1),
          outputTokens: tokens,
          interTokenMs: 22 * (1 + 0.1 * dice.normal()),
          outcome,
        }),
      );
      made += 1;
    }
    now += waited + busy;
    [queueMs, engineMs, aloneMs] = [queueMs + waited, engineMs + busy, aloneMs + busy];
    longestQueueMs = Math.max(longestQueueMs, waited);
    [promptTokens, outputTokens] = [promptTokens + 700 * (at + 1) * side, outputTokens + tokens * side];
    if (at < count - 1 && outcome === 'completed') [now, toolMs, aloneMs] = [now + gap, toolMs + gap, aloneMs + gap];
  }
  const workload = ['chat', 'react', 'mcts'][index % 3] ?? '';
  const times = { arrivedMs, endedMs: now, queueMs, engineMs, toolMs, aloneMs, longestQueueMs, criticalPathMs: now - arrivedMs }; // prettier-ignore
  const counts = { calls: made, callsCancelled: outcome === 'completed' ? 0 : 3, promptTokens, outputTokens };
  observer.programEnded(program({ target, index, program: name, workload, ...times, ...counts, outcome }));
}
