import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { Source } from '../sim/index.js';
import type { AgentProgram, Arrivals } from '../workloads/index.js';
import type { Watch } from './disturbance.js';
import type { LoadOptions, LoadObserver } from './load.js';
import type { Meter } from './meter.js';
import { Player } from './player.js';
import { playProgram } from './program-play.js';
import type { Readiness } from './preflight.js';
import type { Target } from './target.js';

const AT_ONCE = 16;
/** Rate in programs a second that is as good as all at once, and the highest that can be drawn. */
const RATE_MAX = 1e6;
/** Programs under way on a target above which no more are started: a target that far behind gains nothing from more. */
const UNDER_WAY_MAX = 20_000;

export interface Surroundings {
  readonly options: LoadOptions;
  readonly observer: LoadObserver;
  readonly targets: readonly Target[];
  readonly ready: readonly Readiness[];
  /** One for each target. */
  readonly watches: readonly Watch[];
  readonly fitting: Fitting;
  readonly meter: Meter;
  /** Milliseconds since the first run began. */
  readonly now: () => number;
}

export class Run {
  readonly players: readonly Player[];
  elapsedMs: number | undefined;
  /** Programs started and ended, over all targets together. */
  started = 0;
  ended = 0;
  /** Programs under way when it was stopped. */
  unfinished = 0;
  programs = 0;
  isTooMany = false;
  readonly #startMs: number;
  #isStopped = false;
  #fault: (error: unknown) => void = () => undefined;

  /** @param firstIndex index of its first program, among those of all runs */
  constructor(
    private readonly around: Surroundings,
    private readonly index: number,
    private readonly firstIndex: number,
  ) {
    const { options, now, targets, ready } = around;
    const runId = randomUUID();
    const fault = (error: unknown) => this.#fault(error);
    // The clock began with the first run.
    this.#startMs = index === 0 ? 0 : now();
    this.players = targets.map((target, at) => {
      const { facts, words, template, offersTools } = ready[at] as Readiness;
      const { recordedAnswers } = options;
      // An engine would find texts of an earlier run in its cache, or of a twin if it is behind both targets.
      const salt = `${at}-${runId.slice(0, 8)}`;
      const style = { api: target.api, words, template, salt, recordedAnswers, offersTools };
      const { model, ignoresEos: isExact, alone } = facts;
      return new Player({ ...around, index: at, run: index, target, model, isExact, style, alone, runId, fault });
    });
  }

  /** Milliseconds since this run began. */
  readonly #now = (): number => this.around.now() - this.#startMs;

  async play(signal: AbortSignal): Promise<void> {
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
    const broken = new Promise<never>((_, reject) => (this.#fault = reject));
    try {
      await Promise.race([this.#play(), stopped, broken]);
    } finally {
      signal.removeEventListener('abort', stop);
      this.#isStopped = true;
      this.players.forEach((player) => player.stop());
    }
    this.elapsedMs = this.#now();
    this.unfinished = this.players.reduce((sum, player) => sum + player.underWay.size, 0);
    await Promise.all(this.players.map((player) => player.settle()));
  }

  #play(): Promise<unknown> {
    const { arrivals } = this.around.options;
    return arrivals.type === 'closed' ? this.#playClosed(arrivals.concurrency) : this.#playTimed(this.#source());
  }

  /** A fixed number of programs at any time, on each target by itself. */
  async #playClosed(concurrency: number): Promise<void> {
    const sources = this.players.map(() => ({ source: this.#source(), index: 0 }));
    const workers: Promise<void>[] = [];
    for (let worker = 0; worker < concurrency && !this.#isStopped; worker += 1) {
      for (const player of this.#inOrder(worker)) {
        const pulled = sources[player.stage.index];
        if (pulled !== undefined) workers.push(this.#work(player, pulled));
      }
      if (worker % AT_ONCE === 0) await turn();
    }
    await Promise.all(workers);
  }

  #source(): Source {
    const { programs, maxPrograms, seed, arrivals, timeScale } = this.around.options;
    return new Source({
      programs: this.around.fitting.of(programs(this.index)),
      maxPrograms,
      arrivals: faster(arrivals, timeScale),
      seed: seedOfRun(seed, this.index),
    });
  }

  #inOrder(index: number): readonly Player[] {
    return (index + this.index) % 2 === 0 ? this.players : this.players.toReversed();
  }

  /** Programs arrive at their times, whatever happened to earlier ones. */
  async #playTimed(source: Source): Promise<void> {
    const playing = new Set<Promise<void>>();
    let lastMs = 0;
    for (let index = 0; ; index += 1) {
      const arrival = source.next(lastMs);
      if (arrival === undefined || arrival.atMs > this.around.options.durationMs) break;
      lastMs = arrival.atMs;
      // Overdue programs start at once, but in small groups, so that answers are noticed in time.
      if (arrival.atMs > this.#now())
        await new Promise<void>((due) => this.players[0]?.at(this.#startMs + arrival.atMs, due));
      else if (index % AT_ONCE === 0) await turn();
      if (this.#isStopped) return;
      if (this.players.some(({ underWay }) => underWay.size >= UNDER_WAY_MAX)) {
        this.isTooMany = true;
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

  async #work(player: Player, pulled: { readonly source: Source; index: number }): Promise<void> {
    for (;;) {
      const arrivedMs = this.#now();
      if (arrivedMs > this.around.options.durationMs) return;
      const arrival = pulled.source.next(arrivedMs);
      if (arrival === undefined) return;
      pulled.index += 1;
      await this.#begin(player, arrival.program, pulled.index - 1, arrivedMs);
    }
  }

  /** @param arrivedMs since this run began */
  async #begin(player: Player, program: AgentProgram, index: number, arrivedMs: number): Promise<void> {
    this.started += 1;
    this.programs = Math.max(this.programs, index + 1);
    await playProgram(player, program, this.firstIndex + index, this.#startMs + arrivedMs);
    this.ended += 1;
  }
}

/** The seed of a run; the first run has that of the options. */
export const seedOfRun = (seed: number, run: number): number => (seed + run) % 2 ** 32;

function faster(arrivals: Arrivals, factor: number): Arrivals {
  if (arrivals.type === 'open')
    return { ...arrivals, ratePerSecond: Math.min(RATE_MAX, arrivals.ratePerSecond * factor) };
  return arrivals.type === 'trace' ? { ...arrivals, speed: arrivals.speed * factor } : arrivals;
}

/** Upper bound on a call's tokens where a target reports none. */
const TOKENS_MAX = 4_000_000;
/** Upper bound on unfit programs in a row, after which the search ends. */
const MISSES_MAX = 10_000;

/** Drops programs with calls that no target can answer, which would only measure how fast they are refused. */
export class Fitting {
  readonly #tokensMax: number;
  /** Programs left out, each listed once. */
  readonly misses = new Set<string>();

  /** @param maxModelLens longest prompt and answer together of each target */
  constructor(maxModelLens: readonly number[]) {
    this.#tokensMax = Math.min(TOKENS_MAX, ...maxModelLens);
  }

  *of(programs: Iterable<AgentProgram>): Generator<AgentProgram, void> {
    let misses = 0;
    for (const program of programs) {
      if (this.#fits(program)) {
        misses = 0;
        yield program;
      } else {
        this.misses.add(program.id);
        if ((misses += 1) >= MISSES_MAX) return;
      }
    }
  }

  /** Whether all calls fit. The tokens of recorded texts are known only to the target. */
  #fits({ calls }: AgentProgram): boolean {
    return calls.every(
      ({ messages, promptTokens, outputTokens }) =>
        (messages === undefined ? promptTokens : 0) + outputTokens <= this.#tokensMax,
    );
  }
}
