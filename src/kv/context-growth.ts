/** Number of kinds: programs grouped by the size of their first prompt, two kinds to a doubling. */
const KINDS = 64;
/** Answered calls and programs of a type's kind from which on it is believed: some types have one program ever. */
const ANSWERED_MIN = 8;
const PROGRAMS_MIN = 2;
const MEMORY_CALLS = 256;
/**
 * Prior of a kind: a number of calls, and the share of first and of later calls that another one follows. It is high, as
 * programs that end early are the first to be seen ending; without any that went on, a kind has no known growth.
 */
const PRIOR_CALLS = 8;
const PRIOR_FIRST = 0.9;
const PRIOR_LATER = 0.97;
/** Point in a program's life at which its context is predicted. Of 1/2, 5/8, 3/4 and 1, best on recorded agents. */
const PART = 5 / 8;
/** Upper bound on the predicted calls of a program: agents that run for hundreds of calls fill any cache. */
const CALLS_MAX = 64;

/** Share of ended calls that another one followed; newer ones weigh more. */
class ContinuationRate {
  #ended = PRIOR_CALLS;
  #followed: number;

  constructor(prior: number) {
    this.#followed = PRIOR_CALLS * prior;
  }

  get share(): number {
    return Math.min(1, this.#followed / this.#ended);
  }

  follow(): void {
    this.#followed += 1;
  }

  end(): void {
    this.#ended = this.#ended * (1 - 1 / MEMORY_CALLS) + 1;
    this.#followed *= 1 - 1 / MEMORY_CALLS;
  }
}

class Kind {
  readonly first = new ContinuationRate(PRIOR_FIRST);
  readonly later = new ContinuationRate(PRIOR_LATER);
  answered = 0;
  programs = 0;
  /** Mean growth of the context from call to call, in tokens. */
  #growthTokens = 0;
  #calls = 0;

  rate(isFirst: boolean): ContinuationRate {
    return isFirst ? this.first : this.later;
  }

  grow(tokens: number): void {
    this.#calls = Math.min(this.#calls + 1, MEMORY_CALLS);
    this.#growthTokens += (tokens - this.#growthTokens) / this.#calls;
  }

  /** Growth in tokens over `PART` of a program's expected calls, if the same share goes on after each call. */
  get growthTokens(): number {
    const calls = Math.min(CALLS_MAX, 1 / (1 - this.later.share));
    return Math.max(0, this.#growthTokens * calls * PART);
  }
}

/** How contexts of an agent type grow, by the length of the first prompt; until enough is known, as all programs'. */
export class ContextGrowth {
  readonly #kinds: (Kind | undefined)[] = [];

  /** @param all the growth of all programs' contexts, which learns with it; undefined: this is it */
  constructor(private readonly all?: ContextGrowth) {}

  /** Another call has followed the program's answered one. @param isSecond whether it is the second call */
  followed(firstTokens: number, isSecond: boolean): void {
    this.all?.followed(firstTokens, isSecond);
    this.#kind(firstTokens).rate(isSecond).follow();
  }

  /** A call was answered. @param grownTokens growth of the context since the call before; undefined: there was none */
  answered(firstTokens: number, isFirst: boolean, grownTokens: number | undefined): void {
    this.all?.answered(firstTokens, isFirst, grownTokens);
    const kind = this.#kind(firstTokens);
    kind.rate(isFirst).end();
    kind.answered += 1;
    if (isFirst) kind.programs += 1;
    if (grownTokens !== undefined) kind.grow(grownTokens);
  }

  /** Predicted size of the context of a program with that first prompt, in tokens. @param wentOn it had a second call */
  expectedTokens(firstTokens: number, wentOn: boolean): number {
    const kind = this.#kind(firstTokens);
    if (this.all !== undefined && (kind.answered < ANSWERED_MIN || kind.programs < PROGRAMS_MIN))
      return this.all.expectedTokens(firstTokens, wentOn);
    const share = wentOn ? 1 : kind.first.share;
    return firstTokens + Math.round(share * kind.growthTokens);
  }

  #kind(firstTokens: number): Kind {
    const at = Math.min(Math.floor(2 * Math.log2(1 + firstTokens)), KINDS - 1);
    return (this.#kinds[at] ??= new Kind());
  }
}
