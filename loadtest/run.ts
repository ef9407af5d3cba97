import { randomUUID } from 'node:crypto';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { Source } from '../sim/index.js';
import type { AgentProgram, Arrivals } from '../workloads/index.js';
import type { LoadOptions, LoadSummary } from './load.js';
import { Meter } from './meter.js';
import { Player, TIMER_MS_MAX } from './player.js';
import { playProgram } from './program-play.js';
import { preflight, type Readiness } from './preflight.js';
import type { LoadObserver } from './records.js';
import { Target } from './target.js';
import { Fitting } from './fitting.js';
import { warningsOf } from './warnings.js';

const PROGRESS_MS = 200;
/** Programs started in one turn of the event loop. */
const AT_ONCE = 16;
/** Rate in programs a second that is as good as all at once, and the highest that can be drawn. */
const RATE_MAX = 1e6;
/** Programs under way on a target above which no more are started: a target that far behind gains nothing from more. */
const UNDER_WAY_MAX = 20_000;

/**
 * Plays programs on one or two targets, and reports each ended call and program to the observer. An abort of the signal
 * ends the run with the measurements so far.
 * @throws LoadError when a target cannot be used; RangeError for impossible arrivals
 */
export async function runLoad(options: LoadOptions, observer: LoadObserver, signal: AbortSignal): Promise<LoadSummary> {
  const targets: Target[] = [];
  try {
    for (const url of options.targets) targets.push(await Target.open(url, options));
    const ready: Readiness[] = [];
    for (const target of targets) ready.push(await preflight(target, options, signal));
    const fitting = new Fitting(ready.map(({ facts }) => facts.maxModelLen ?? Infinity));
    const { onWarning } = options;
    const warning = onWarning && fitting.foresee(options.programs(), options.maxPrograms);
    if (warning !== undefined) onWarning?.(warning);
    return await new Run(options, observer, signal, targets, ready, fitting).end;
  } finally {
    await Promise.all(targets.map((target) => target.close()));
  }
}

class Run {
  readonly end: Promise<LoadSummary>;
  readonly #meter = new Meter();
  readonly #startedAt = new Date();
  readonly #players: readonly Player[];
  readonly #stop = new AbortController();
  #fault: (error: unknown) => void = () => undefined;
  #started = 0;
  #ended = 0;
  #isTooMany = false;

  constructor(
    private readonly options: LoadOptions,
    observer: LoadObserver,
    signal: AbortSignal,
    targets: readonly Target[],
    private readonly ready: readonly Readiness[],
    private readonly fitting: Fitting,
  ) {
    const began = performance.now();
    const now = () => performance.now() - began;
    const runId = randomUUID();
    this.#players = targets.map((target, index) => {
      const { facts, words, template, offersTools } = ready[index] as Readiness;
      const { salt: isSalted, recordedAnswers } = options;
      // Two targets may lead to the same engine, which would find a twin's text in its cache.
      const salt = `${index}${isSalted ? `-${runId.slice(0, 8)}` : ''}`;
      const style = { api: target.api, words, template, salt, isSalted, recordedAnswers, offersTools };
      const { model, ignoresEos: isExact, alone } = facts;
      return new Player({ index, target, model, isExact, style, alone, options, runId, observer, meter: this.#meter, now, fault: (error) => this.#fault(error) }); // prettier-ignore
    });
    this.end = this.#run(now, signal);
  }

  async #run(now: () => number, signal: AbortSignal): Promise<LoadSummary> {
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const broken = new Promise<never>((_, reject) => (this.#fault = reject));
    const timer = setInterval(() => this.#tell(now()), PROGRESS_MS);
    const played = this.#play(now);
    try {
      await Promise.race([played, stopped, broken]);
      this.#tell(now());
    } finally {
      clearInterval(timer);
      this.#stop.abort();
      this.#players.forEach((player) => player.stop());
    }
    const programsUnfinished = this.#players.reduce((sum, player) => sum + player.underWay, 0);
    if (programsUnfinished === 0) await Promise.all(this.#players.map((player) => player.released()));
    // The run was stopped, so a pending wait that now fails is no failure of the run.
    played.catch(() => undefined);
    return this.#summary(now(), programsUnfinished, !signal.aborted);
  }

  #play(now: () => number): Promise<unknown> {
    const { arrivals } = this.options;
    return arrivals.type === 'closed'
      ? this.#playClosed(now, arrivals.concurrency)
      : this.#playTimed(now, this.#source());
  }

  /** A fixed number of programs at any time, on each target by itself. */
  async #playClosed(now: () => number, concurrency: number): Promise<void> {
    const sources = this.#players.map(() => ({ source: this.#source(), index: 0 }));
    const workers: Promise<void>[] = [];
    for (let worker = 0; worker < concurrency && !this.#stop.signal.aborted; worker += 1) {
      for (const player of this.#inOrder(worker)) {
        const pulled = sources[player.stage.index];
        if (pulled !== undefined) workers.push(this.#work(now, player, pulled));
      }
      if (worker % AT_ONCE === 0) await turn();
    }
    await Promise.all(workers);
  }

  #source(): Source {
    const { programs, maxPrograms, seed, arrivals, timeScale } = this.options;
    return new Source({
      programs: this.fitting.of(programs()),
      maxPrograms,
      arrivals: faster(arrivals, timeScale),
      seed,
    });
  }

  /** Targets take turns in going first. */
  #inOrder(index: number): readonly Player[] {
    return index % 2 === 0 ? this.#players : this.#players.toReversed();
  }

  /** Programs arrive at their times, whatever happened to earlier ones. */
  async #playTimed(now: () => number, source: Source): Promise<void> {
    const playing = new Set<Promise<void>>();
    let lastMs = 0;
    for (let index = 0; ; index += 1) {
      const arrival = source.next(lastMs);
      if (arrival === undefined || arrival.atMs > this.options.durationMs) break;
      lastMs = arrival.atMs;
      // Overdue programs start at once, but in small groups, so that answers are noticed in time.
      if (arrival.atMs > now()) await this.#until(arrival.atMs, now);
      else if (index % AT_ONCE === 0) await turn();
      if (this.#stop.signal.aborted) return;
      if (this.#players.some(({ underWay }) => underWay >= UNDER_WAY_MAX)) {
        this.#isTooMany = true;
        break;
      }
      for (const player of this.#inOrder(index)) {
        const played = this.#begin(player, arrival.program, index, arrival.atMs);
        playing.add(played);
        void played.then(() => playing.delete(played));
      }
    }
    await Promise.all(playing);
  }

  async #until(timeMs: number, now: () => number): Promise<void> {
    // A timer counts from the start of its turn of the event loop, and so may fire slightly early.
    for (let waitMs = timeMs - now(); waitMs > 0 && !this.#stop.signal.aborted; waitMs = timeMs - now())
      await sleep(Math.min(Math.ceil(waitMs), TIMER_MS_MAX), undefined, { signal: this.#stop.signal });
  }

  /** A worker that plays programs one after the other. */
  async #work(now: () => number, player: Player, pulled: { readonly source: Source; index: number }): Promise<void> {
    for (;;) {
      const arrivedMs = now();
      if (arrivedMs > this.options.durationMs) return;
      const arrival = pulled.source.next(arrivedMs);
      if (arrival === undefined) return;
      pulled.index += 1;
      await this.#begin(player, arrival.program, pulled.index - 1, arrivedMs);
    }
  }

  async #begin(player: Player, program: AgentProgram, index: number, arrivedMs: number): Promise<void> {
    this.#started += 1;
    await playProgram(player, program, index, arrivedMs);
    this.#ended += 1;
  }

  #tell(elapsedMs: number): void {
    const { maxPrograms, onProgress, durationMs } = this.options;
    onProgress?.({
      elapsedMs,
      programsStarted: this.#started,
      programsEnded: this.#ended,
      programsTotal: maxPrograms < Infinity && durationMs === Infinity ? maxPrograms * this.#players.length : undefined,
      callsInFlight: this.#meter.inFlight,
    });
  }

  #summary(elapsedMs: number, programsUnfinished: number, complete: boolean): LoadSummary {
    const generator = this.#meter.stop();
    const targets = this.ready.map(({ facts }, index) => ({
      ...facts,
      promptTokensWanted: this.#players[index]?.promptTokensWanted ?? 0,
      promptTokensCounted: this.#players[index]?.promptTokensCounted ?? 0,
    }));
    const programsTooLong = this.fitting.leftOut;
    return {
      startedAt: this.#startedAt,
      endedAt: new Date(),
      elapsedMs,
      complete,
      programsUnfinished,
      programsTooLong,
      targets,
      generator,
      warnings: warningsOf({ options: this.options, targets, generator, programsTooLong, isTooMany: this.#isTooMany }),
    };
  }
}

function faster(arrivals: Arrivals, factor: number): Arrivals {
  switch (arrivals.type) {
    case 'open':
      return { ...arrivals, ratePerSecond: Math.min(RATE_MAX, arrivals.ratePerSecond * factor) };
    case 'trace':
      return { ...arrivals, speed: arrivals.speed * factor };
    case 'closed':
      return arrivals;
  }
}
