import { baselineOf } from './alone.js';
import { Fitting } from './fitting.js';
import { type LoadOptions, type LoadSummary, RUNS, SHORT_MS } from './load.js';
import { Meter } from './meter.js';
import type { Player } from './player.js';
import { preflight, type Readiness } from './preflight.js';
import type { LoadObserver } from './records.js';
import { Run, type Surroundings } from './run.js';
import { Target } from './target.js';
import { warningsOf } from './warnings.js';

const PROGRESS_MS = 200;

/**
 * Plays programs on one or two targets, in one run or several, and reports each ended call and program to the observer.
 * An abort of the signal ends the run with the measurements so far.
 * @throws LoadError when a target cannot be used; RangeError for impossible arrivals
 */
export async function runLoad(options: LoadOptions, observer: LoadObserver, signal: AbortSignal): Promise<LoadSummary> {
  const targets: Target[] = [];
  try {
    for (const url of options.targets) targets.push(await Target.open(url, options));
    const looks: Readiness[] = [];
    for (const target of targets) looks.push(await preflight(target, options, signal));
    const alone = baselineOf(looks.map(({ facts }) => facts.alone));
    const ready = looks.map((look) => ({ ...look, facts: { ...look.facts, alone } }));
    const fitting = new Fitting(ready.map(({ facts }) => facts.maxModelLen ?? Infinity));
    const { onWarning } = options;
    const warning = onWarning && fitting.foresee(options.programs(0), options.maxPrograms);
    if (warning !== undefined) onWarning?.(warning);
    const began = performance.now();
    const around = { options, observer, targets, ready, fitting, meter: new Meter(), now: () => performance.now() - began }; // prettier-ignore
    return await new Runs(around).play(signal);
  } finally {
    await Promise.all(targets.map((target) => target.close()));
  }
}

/** Runs one after the other, on one clock. */
class Runs {
  readonly #startedAt = new Date();
  readonly #runs: Run[] = [];

  constructor(private readonly around: Surroundings) {}

  async play(signal: AbortSignal): Promise<LoadSummary> {
    const timer = setInterval(() => this.#tell(), PROGRESS_MS);
    try {
      let programs = 0;
      do {
        const run = new Run(this.around, this.#runs.length, programs);
        this.#runs.push(run);
        await run.play(signal);
        programs += run.programs;
      } while (!signal.aborted && this.#runs.length < this.#wanted());
      this.#tell();
    } finally {
      clearInterval(timer);
    }
    return this.#summary(!signal.aborted);
  }

  /** Only when the first run has ended is it known to be short. */
  #wanted(): number {
    const { runs, targets } = this.around.options;
    const isShort = targets.length > 1 && (this.#runs[0]?.elapsedMs ?? Infinity) <= SHORT_MS;
    return runs ?? (isShort ? RUNS : 1);
  }

  #tell(): void {
    const { options, targets, meter, now } = this.around;
    const { maxPrograms, onProgress, durationMs } = options;
    const isKnown = maxPrograms < Infinity && durationMs === Infinity;
    onProgress?.({
      elapsedMs: now(),
      programsStarted: this.#sum((run) => run.started),
      programsEnded: this.#sum((run) => run.ended),
      programsTotal: isKnown ? maxPrograms * targets.length * this.#wanted() : undefined,
      callsInFlight: meter.inFlight,
    });
  }

  #summary(complete: boolean): LoadSummary {
    const { options, ready, fitting, meter, now } = this.around;
    const generator = meter.stop();
    const targets = ready.map(({ facts }, index) => {
      const sum = (of: (player: Player) => number) => this.#sum(({ players }) => players.slice(index, index + 1).reduce((all, player) => all + of(player), 0)); // prettier-ignore
      return {
        ...facts,
        promptTokensWanted: sum((player) => player.promptTokensWanted),
        promptTokensCounted: sum((player) => player.promptTokensCounted),
      };
    });
    const programsTooLong = fitting.leftOut;
    const isTooMany = this.#runs.some((run) => run.isTooMany);
    return {
      startedAt: this.#startedAt,
      endedAt: new Date(),
      elapsedMs: now(),
      complete,
      runs: complete ? this.#runs.length : this.#runs.length - 1,
      programsUnfinished: this.#sum((run) => run.unfinished),
      programsTooLong,
      targets,
      generator,
      warnings: warningsOf({ options, targets, generator, programsTooLong, isTooMany }),
    };
  }

  #sum(of: (run: Run) => number): number {
    return this.#runs.reduce((sum, run) => sum + of(run), 0);
  }
}
