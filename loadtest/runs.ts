import { baselineOf } from './calibrate.js';
import { LoadError, type LoadOptions, RUNS, SHORT_MS, type LoadObserver } from './load.js';
import { watch } from './disturbance.js';
import { Meter } from './meter.js';
import type { Player } from './player.js';
import { lookAt, preflight, type Readiness } from './preflight.js';
import { Fitting, Run, type Surroundings } from './run.js';
import { Target } from './target.js';
import { speedWarning, warningsOf } from './warnings.js';

const PROGRESS_MS = 200;

/**
 * Plays programs on one or two targets, in one run or several, and reports each ended call and program to the observer.
 * An abort of the signal ends the run with the measurements so far.
 * @throws LoadError when a target cannot be used; RangeError for impossible arrivals
 */
export async function runLoad(options: LoadOptions, observer: LoadObserver, signal: AbortSignal) {
  const opened: Target[] = [];
  try {
    const { targets: urls, measuredAt = [], baseline } = options;
    for (const url of [...urls, ...measuredAt]) opened.push(await Target.open(url, options));
    const targets = opened.slice(0, urls.length);
    const seen = await Promise.all(opened.slice(-urls.length).map((target) => lookAt(target, options, signal)));
    const [one, other] = seen.map(({ engines }) => engines);
    const shared = one?.find((engine) => other?.includes(engine) === true);
    if (shared !== undefined)
      throw new LoadError(
        `both targets use ${shared} and would compete for it: run them one after the other, and compare by maitred load compare`,
      );
    const looks: Readiness[] = [];
    for (const each of seen) looks.push(await preflight(each, options, signal));
    const alone = typeof baseline === 'object' ? baseline : baselineOf(looks.map(({ facts }) => facts.alone));
    const ready = looks.map((look) => ({ ...look, facts: { ...look.facts, alone } }));
    const watches = await Promise.all(targets.map((target, at) => watch(target, looks[at]?.facts.policy)));
    const fitting = new Fitting(ready.map(({ facts }) => facts.maxModelLen ?? Infinity));
    for (const { facts } of ready) {
      const warning = speedWarning(facts, options.timeScale);
      if (warning !== undefined) options.onWarning?.(warning);
    }
    const began = performance.now();
    const now = () => performance.now() - began;
    const around = { options, observer, targets, ready, watches, fitting, meter: new Meter(), now };
    return await new Runs(around).play(signal);
  } finally {
    await Promise.all(opened.map((target) => target.close()));
  }
}

/** Result of a run, besides the records of its calls and programs. */
export type LoadSummary = Readonly<Awaited<ReturnType<typeof runLoad>>>;

class Runs {
  readonly #startedAt = new Date();
  readonly #runs: Run[] = [];

  constructor(private readonly around: Surroundings) {}

  async play(signal: AbortSignal) {
    const timer = setInterval(() => this.#tell(), PROGRESS_MS);
    try {
      let programs = 0;
      do {
        const run = new Run(this.around, this.#runs.length, programs);
        this.#runs.push(run);
        await run.play(signal);
        programs += run.programs;
        // Further runs would measure how fast calls fail.
        if (run.players.some(({ goneMs }) => goneMs !== undefined)) break;
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
      runs: this.#wanted(),
      callsInFlight: meter.inFlight,
    });
  }

  async #summary(complete: boolean) {
    const { options, ready, watches, fitting, meter, now } = this.around;
    const [generator, elapsedMs] = [meter.stop(), now()];
    const players = this.#runs.flatMap((run) => run.players);
    const sum = (of: readonly Player[], name: 'promptTokensWanted' | 'promptTokensCounted' | 'sent' | 'broken') =>
      of.reduce((all, player) => all + player[name], 0);
    const ofTarget = async (facts: Readiness['facts'], index: number) => {
      const own = players.filter(({ stage }) => stage.index === index);
      return {
        ...facts,
        promptTokensWanted: sum(own, 'promptTokensWanted'),
        promptTokensCounted: sum(own, 'promptTokensCounted'),
        goneMs: own.at(-1)?.goneMs,
        disturbances: (await watches[index]?.(sum(own, 'sent'), sum(own, 'broken'))) ?? [],
      };
    };
    const targets = await Promise.all(ready.map(({ facts }, index) => ofTarget(facts, index)));
    const isTooMany = this.#runs.some((run) => run.isTooMany);
    return {
      startedAt: this.#startedAt,
      /** On the clock of the records, which starts at 0. */
      elapsedMs,
      /** False when it was stopped before its last program had ended. */
      complete,
      /** Those that are whole. */
      runs: complete ? this.#runs.length : this.#runs.length - 1,
      /** Programs under way when it was stopped; they have no record. */
      programsUnfinished: this.#sum((run) => run.unfinished),
      targets,
      generator,
      warnings: warningsOf({ options, targets, generator, programsTooLong: fitting.misses.size, isTooMany }),
    };
  }

  #sum(of: (run: Run) => number): number {
    return this.#runs.reduce((sum, run) => sum + of(run), 0);
  }
}
