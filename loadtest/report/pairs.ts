import { type Distribution, headline, moreOf, pairedRatio, type Ratio, Sample, verdictOf } from '../../lab/index.js';
import { type LoadProgramRecord, RUNS } from '../load.js';
import { counted, integer } from '../../text/index.js';
import { cachedShare, goneText, isLossy, leftText, type TargetReport } from './target.js';

/** Comparison of the second target's times with the first's; ratios are B over A, their pairs are runs. */
export type Compared = Readonly<ReturnType<typeof comparedOf>>;
export type AbReport = Readonly<ReturnType<Pairs['report']>>;

type Ratios = Readonly<Record<'mean' | 'p50' | 'p95' | 'p99', Ratio>>;

type Two = readonly [Sample, Sample];

/** Programs given to both targets, paired by their index, and compared run by run. */
export class Pairs {
  /** Seconds of programs that completed at both, by run. */
  readonly #runs: Two[] = [];
  /** Seconds at the target that ended first; NaN for a failed one. */
  readonly #waiting = new Map<number, { readonly target: number; readonly seconds: number }>();

  constructor(
    private readonly seed: number,
    private readonly margin: number,
  ) {}

  programEnded({ run, index, target, arrivedMs, endedMs, outcome }: LoadProgramRecord): void {
    const seconds = outcome === 'completed' ? (endedMs - arrivedMs) / 1000 : NaN;
    const twin = this.#waiting.get(index);
    if (twin === undefined || twin.target === target) {
      this.#waiting.set(index, { target, seconds });
      return;
    }
    this.#waiting.delete(index);
    if (Number.isNaN(seconds + twin.seconds)) return;
    const two = (this.#runs[run] ??= [new Sample(this.seed), new Sample(this.seed)]);
    two[target === 0 ? 0 : 1].add(seconds);
    two[twin.target === 0 ? 0 : 1].add(twin.seconds);
  }

  /** @param whole runs that ended by themselves; of a stopped one, rather the short programs are known */
  report(targets: readonly TargetReport[], whole: number) {
    const ofRun = (two: Two, index: number, at: 0 | 1): OfRun => ({
      program_seconds: two[at].distribution(),
      ttft_seconds: targets[at]?.by_run[index]?.ttft_seconds ?? new Sample(0).distribution(),
    });
    // Those in which nothing completed are holes, which are left out.
    const runs = this.#runs
      .slice(0, Math.max(1, whole))
      .flatMap((two, index) => [[ofRun(two, index, 0), ofRun(two, index, 1)] as const]);
    /** Programs that completed at both targets. */
    const pairs = this.#runs.reduce((sum, [first]) => sum + first.count, 0);
    return { ...comparedOf(targets, runs, this.margin), pairs };
  }
}

/** Least difference in the share of cached tokens to tell. */
const CACHED_MIN = 0.02;

type OfRun = Readonly<Record<'program_seconds' | 'ttft_seconds', Distribution>>;
/** A run at the first target and at the other. */
type RunPair = readonly [OfRun, OfRun];

/** @param targets the first and the other */
export function comparedOf([a, b]: readonly TargetReport[], runs: readonly RunPair[], margin: number) {
  const [program_seconds, ttft_seconds] = [ratiosOf(runs, 'program_seconds'), ratiosOf(runs, 'ttft_seconds')];
  const p99s = runs.map((pair) => pair.map(({ ttft_seconds: { p99 } }) => p99)).filter((both) => !both.includes(null));
  const meanOf = (at: number) =>
    p99s.length === 0 ? null : p99s.reduce((sum, both) => sum + (both[at] ?? 0), 0) / p99s.length;
  const ttft_p99_seconds = [meanOf(0), meanOf(1)] as const;
  const leastOf = (name: keyof OfRun) => Math.min(...runs.flat().map((run) => run[name].count));
  const cached = [a ? cachedShare(a) : null, b ? cachedShare(b) : null] as const;
  const isOther = Math.abs((cached[0] ?? 0) - (cached[1] ?? 0)) >= CACHED_MIN;
  const change = {
    programs: program_seconds,
    firstToken: ttft_seconds,
    counts: { programs: leastOf('program_seconds'), calls: leastOf('ttft_seconds') },
    single: runs.length > 1 ? `only one of ${runs.length} runs` : 'one run',
    name: b?.name ?? 'B',
    against: a?.name ?? 'A',
    firstTokenP99Seconds: ttft_p99_seconds,
    cached: isOther ? cached : ([null, null] as const),
    failed: [a?.failed ?? 0, b?.failed ?? 0],
  } as const;
  const losses = [a, b].flatMap((target) => (target && isLossy(target) ? [lossOf(target)] : []));
  const failing = [a, b].flatMap((target) => (target && target.failed > 0 ? [failedText(target, target.name)] : []));
  const only = failing.length === 0 ? '' : ` Only programs that completed at both are compared: ${failing.join('; ')}.`;
  const outcome = losses.length === 0 ? `${headline(change, margin)}${only}` : `Not comparable: ${losses.join('; ')}.`;
  const { mean } = program_seconds;
  const isUnsure =
    losses.length === 0 && mean.ratio !== null && (mean.low === null || verdictOf(mean, margin) === 'unsure');
  return {
    runs: runs.length,
    program_seconds,
    ttft_seconds,
    ttft_p99_seconds,
    outcome,
    /** Runs that would tell, or decide; null: these do, or further ones would not. */
    runs_to_tell: !isUnsure ? null : runs.length === 1 ? RUNS : (moreOf(mean, margin, 'runs').count ?? null),
  };
}

/** Why what is left of a target's programs stands for nothing. */
function lossOf(target: TargetReport): string {
  const { name, programs, failed, gone_after_seconds: gone } = target;
  if (typeof target.engine_left === 'string') return `${leftText(target)}`;
  const rest =
    typeof gone === 'number' || failed === programs
      ? ''
      : `, whose times are of the other ${integer(programs - failed)} alone, under a lighter load`;
  return `${failedText(target, name)}${rest}`;
}

/** Classes of a target's failed calls, the most frequent first. */
export const causesOf = ({ errors }: Pick<TargetReport, 'errors'>) =>
  Object.entries(errors)
    .filter(([, calls]) => calls > 0)
    .sort((a, b) => b[1] - a[1]);

/** The same with their numbers, in brackets. */
export function causesText(target: TargetReport): string {
  const seen = causesOf(target).map(([name, calls]) => `${integer(calls)}x ${name}`);
  return seen.length === 0 ? '' : ` (${seen.join(', ')})`;
}

export function failedText(target: TargetReport, where: string): string {
  const { programs, failed, gone_after_seconds: gone } = target;
  const left = typeof gone === 'number' ? `, which ${goneText(gone)}` : '';
  return `${integer(failed)} of ${counted(programs, 'program')} failed at ${where}${causesText(target)}${left}`;
}

/** With an interval that has the ratio of the others for each run: no single run decides. */
function jackknifed(pairs: readonly (readonly [number, number])[]): Ratio {
  const all = pairedRatio(pairs);
  if (all.low === null || all.high === null || pairs.length < 3) return all;
  const others = pairs.flatMap((pair) => pairedRatio(pairs.filter((each) => each !== pair)).ratio ?? []);
  return { ...all, low: Math.min(all.low, ...others), high: Math.max(all.high, ...others) };
}

/** Of each pair of runs, the second over the first. */
function ratiosOf(pairs: readonly RunPair[], name: keyof OfRun): Ratios {
  const of = (statistic: keyof Ratios): Ratio => {
    const values = pairs.map(([one, other]) => [one[name][statistic], other[name][statistic]] as const);
    return jackknifed(values.filter((pair): pair is readonly [number, number] => !pair.includes(null)));
  };
  return { mean: of('mean'), p50: of('p50'), p95: of('p95'), p99: of('p99') };
}
