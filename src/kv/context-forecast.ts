import type { Call } from '../programs/call.js';
import type { Program } from '../programs/process-table.js';
import type { RootThread } from '../protocol/events.js';

/** Number of kinds: programs grouped by the size of their first prompt, two kinds to a doubling. */
const KINDS = 64;
/** Calls remembered of each kind. */
const MEMORY_CALLS = 256;
/**
 * Prior of a kind: a number of calls, and the share of first and of later calls that another one follows. The shares
 * are high because programs that end early are the first to be seen ending. That costs programs of one call nothing: a
 * kind has no known growth until some of its programs have gone on.
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

/** Statistics of programs whose first prompts are about as long. */
class Kind {
  readonly first = new ContinuationRate(PRIOR_FIRST);
  readonly later = new ContinuationRate(PRIOR_LATER);
  /** Mean growth of the context from call to call, in tokens. */
  #growthTokens = 0;
  #calls = 0;

  grow(tokens: number): void {
    this.#calls = Math.min(this.#calls + 1, MEMORY_CALLS);
    this.#growthTokens += (tokens - this.#growthTokens) / this.#calls;
  }

  /**
   * Growth in tokens over `PART` of a program's expected calls, if the same share of programs goes on after each call.
   */
  get growthTokens(): number {
    const calls = Math.min(CALLS_MAX, 1 / (1 - this.later.share));
    return Math.max(0, this.#growthTokens * calls * PART);
  }
}

/**
 * Predicts the size of a program's context from programs with first prompts of about the same length.
 *
 * An agent's first prompt is a tenth of its last. A gate that counts present sizes lets in a newcomer for every few
 * thousand free tokens. All of them grow, residents evict each other, and their prefixes are computed many times over
 * (docs/DESIGN.md has the figures). So a program counts at least the size that its kind reaches late in life: first
 * prompt + growth a call x calls x 5/8. A program with no second call yet counts the share of that growth which its
 * kind reaches.
 */
export class ContextForecast {
  readonly #kinds = Array.from({ length: KINDS }, () => new Kind());

  /** A call of the program's root thread arrives. */
  arrived(program: Program, promptTokens: number): void {
    if (program.rootCallsFinished === 0) program.firstPromptTokens = promptTokens;
    this.#follow(program);
  }

  /**
   * A call of the root thread has finished and left a context of `contextTokens`. A call parallel to the one before, as
   * in a tree search, has added its answer. Any other has added the difference to the context before.
   */
  finished({ program, arrivedAtMs }: Call, contextTokens: number, answerTokens: number, nowMs: number): void {
    this.#follow(program);
    const { first, later } = this.#kind(program);
    (program.rootCallsFinished === 0 ? first : later).end();
    program.rootCallsFinished += 1;
    program.rootIsUnfollowed = true;
    const ranBeside = arrivedAtMs < program.rootEndedAtMs;
    const grownTokens = ranBeside ? answerTokens : contextTokens - program.rootContextTokens;
    if (program.rootContextTokens > 0) this.#kind(program).grow(grownTokens);
    program.rootContextTokens = contextTokens;
    program.rootEndedAtMs = nowMs;
  }

  /** The root thread has gone on at other gateways, and a call of it arrives here again. */
  joined(program: Program, { calls, firstPromptTokens, contextTokens }: RootThread): void {
    if (calls <= program.rootCallsFinished) return;
    program.rootCallsFinished = calls;
    program.firstPromptTokens = firstPromptTokens;
    program.rootContextTokens = contextTokens;
    program.rootIsUnfollowed = true;
    program.rootWentOn = calls > 1;
  }

  /** Predicted size of the root's context in tokens. */
  expectedTokens(program: Program): number {
    const { first, growthTokens } = this.#kind(program);
    const share = program.rootWentOn ? 1 : first.share;
    return program.firstPromptTokens + Math.round(share * growthTokens);
  }

  /**
   * Another call shows that the last finished one was followed. Each answer counts as followed once, so calls that are
   * refused, cancelled or sent again add nothing.
   */
  #follow(program: Program): void {
    if (!program.rootIsUnfollowed) return;
    const { first, later } = this.#kind(program);
    (program.rootCallsFinished === 1 ? first : later).follow();
    program.rootIsUnfollowed = false;
    program.rootWentOn = true;
  }

  #kind({ firstPromptTokens }: Program): Kind {
    return this.#kinds[Math.min(Math.floor(2 * Math.log2(1 + firstPromptTokens)), KINDS - 1)] as Kind;
  }
}
