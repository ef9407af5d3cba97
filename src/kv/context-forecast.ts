import type { Call } from '../programs/call.js';
import type { Program } from '../programs/process-table.js';

/** Kinds of programs by the size of their first prompt, two to a doubling. */
const KINDS = 64;
/** Calls that are remembered of a kind. */
const MEMORY_CALLS = 256;
/**
 * What is believed of a kind before any was seen: as many calls of each sort, and the share of them that others followed.
 * High, since programs that end early are the first to be seen ending; it costs programs of one call nothing, as no
 * growth is known of a kind until some have gone on.
 */
const PRIOR_CALLS = 8;
const PRIOR_FIRST = 0.9;
const PRIOR_LATER = 0.97;
/** How far into a program's calls its context is looked at. Of 1/2, 5/8, 3/4 and 1, best on recorded agents. */
const PART = 5 / 8;
/** Longest programs that room is kept for: agents that go on for hundreds of calls fill any cache. */
const CALLS_MAX = 64;

/** How many of the calls that ended were followed by another, newer ones weighing more. */
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

/** What was seen of programs whose first prompts are about as long. */
class Kind {
  readonly first = new ContinuationRate(PRIOR_FIRST);
  readonly later = new ContinuationRate(PRIOR_LATER);
  /** Mean growth of the context from call to call. */
  #growthTokens = 0;
  #calls = 0;

  grow(tokens: number): void {
    this.#calls = Math.min(this.#calls + 1, MEMORY_CALLS);
    this.#growthTokens += (tokens - this.#growthTokens) / this.#calls;
  }

  /** Growth over that part of the calls of a program that goes on, if the same share goes on each time. */
  get growthTokens(): number {
    const calls = Math.min(CALLS_MAX, 1 / (1 - this.later.share));
    return Math.max(0, this.#growthTokens * calls * PART);
  }
}

/**
 * What programs' contexts grow to, learnt from those that began alike.
 *
 * An agent's first prompt is a tenth of what its context comes to. A gate that counts what it holds now lets in a
 * newcomer for each few thousand tokens that are free, and all of them grow: then residents push each other out, and
 * what was saved by letting them in is computed again many times over (docs/DESIGN.md has the figures). So a program
 * counts at least as much as its like hold late in their lives: first prompt + growth a call x calls x 5/8, and of one
 * that has made no second call yet, the share of that growth which its like come to.
 */
export class ContextForecast {
  readonly #kinds = Array.from({ length: KINDS }, () => new Kind());

  /** A call of the root's arrives. */
  arrived(program: Program, promptTokens: number): void {
    if (program.rootCallsFinished === 0) program.firstPromptTokens = promptTokens;
    this.#follow(program);
  }

  /**
   * A call of the root's has left this context behind, its answer at the end. Where it ran beside the one before, as in a tree
   * that is searched, the answer is what it has added.
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

  /** The tokens that the root's context is expected to hold, or 0. */
  expectedTokens(program: Program): number {
    const { first, growthTokens } = this.#kind(program);
    const share = program.rootWentOn ? 1 : first.share;
    return program.firstPromptTokens + Math.round(share * growthTokens);
  }

  /**
   * Another call shows that the last finished one was followed, which counts once. So calls that are refused, cancelled or
   * sent again cannot make more followers than there were answers.
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
