import type { ToolLatency } from './tool-latency.js';

/** Forecasts of the rest of programs against the service that they then took, in milliseconds. */
interface Rests {
  programs: number;
  foreseenMs: number;
  takenMs: number;
  /** Sum of the differences, whatever their sign. */
  errorMs: number;
}

/** Times of tools by the least of their foreseen quantiles that they did not exceed. */
type Times = Record<'p50' | 'p95' | 'none', number>;

/** How right forecasts have proved: running totals since the start, for metrics. */
export class Accuracy {
  readonly rests: Readonly<Record<'declared' | 'learnt', Rests>> = { declared: noRests(), learnt: noRests() };
  /** By the source of the forecast; `prior`: too few latencies of the tool had been seen. */
  readonly times: Readonly<Record<'declared' | 'learnt' | 'prior', Times>> = {
    declared: noTimes(),
    learnt: noTimes(),
    prior: noTimes(),
  };
  /** Foreseen next answers that asked for the foreseen tools, or for others. */
  readonly successors = { right: 0, wrong: 0 };

  /** A program has ended. @param takenMs its service since the forecast */
  ended(source: 'declared' | 'learnt', foreseenMs: number, takenMs: number): void {
    const rests = this.rests[source];
    rests.programs += 1;
    rests.foreseenMs += foreseenMs;
    rests.takenMs += takenMs;
    rests.errorMs += Math.abs(foreseenMs - takenMs);
  }

  succeeded(foreseen: ToolLatency | undefined, tools: ToolLatency): void {
    if (foreseen !== undefined) this.successors[foreseen === tools ? 'right' : 'wrong'] += 1;
  }
}

const noRests = (): Rests => ({ programs: 0, foreseenMs: 0, takenMs: 0, errorMs: 0 });
const noTimes = (): Times => ({ p50: 0, p95: 0, none: 0 });
