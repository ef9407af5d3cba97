import type { Accuracy } from './accuracy.js';
import type { ExecutionGraph } from './execution-graph.js';
import type { Foreseen, ToolLatency } from './tool-latency.js';

/** Tools of one thread that are awaited at once; further ones take the place of the oldest. */
const AWAITED_MAX = 8;

/** The next call of a thread, as foreseen. */
export interface NextCall {
  /** That the thread calls again. It falls as the thread stays silent for longer than its tools take. */
  readonly probability: number;
  /** Time until the call, if it comes: its median and its 95th percentile. */
  readonly medianMs: number;
  readonly p95Ms: number;
  /** Tokens by which its prompt exceeds the thread's context. */
  readonly moreTokens: number;
  /** Tools that its answer asks for, by name: '' for none. Undefined: none are likely enough to tell. */
  readonly tools: string | undefined;
}

export interface AnsweredTokens {
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** A tool that runs, or several asked for at once. */
interface Awaited {
  readonly latency: ToolLatency;
  readonly sinceMs: number;
  readonly declaredMs: number | undefined;
  /** Its duration, as foreseen at its begin. */
  readonly foreseen: Foreseen;
}

/** Where one thread stands in the execution graph of its agent type, and the tools that it waits for. */
export class ThreadPath {
  /** The tools of the last answer, until the thread calls again, and the tokens of its context. */
  #at: ToolLatency | undefined;
  #contextTokens = 0;
  /** The tools of the answer before the present call. */
  #before: ToolLatency | undefined;
  /** The answer's tools together, and instead of them those whose start was told, oldest first. */
  #asked: Awaited | undefined;
  #told: readonly Awaited[] = [];
  /** Whether it has ended at `#at`, or is presumed to have. */
  #isEnded = false;

  constructor(
    private readonly graph: ExecutionGraph,
    private readonly accuracy: Accuracy,
  ) {}

  /** The thread calls: all that it waited for has ended. */
  arrived(nowMs: number): void {
    for (const awaited of this.#awaited) this.#toolEnded(awaited, nowMs);
    this.#asked = undefined;
    this.#told = [];
    this.#before = this.#at;
    this.#at = undefined;
    if (this.#before === undefined) return;
    if (this.#isEnded) this.graph.revived(this.#before);
    else this.graph.followed(this.#before);
    this.#isEnded = false;
  }

  /** The call's answer asks for these tools. */
  answered(tools: ToolLatency, { promptTokens, outputTokens }: AnsweredTokens, nowMs: number): void {
    if (this.#before !== undefined) {
      this.accuracy.succeeded(this.graph.after(this.#before)?.tools, tools);
      this.graph.succeeded(this.#before, tools, Math.max(0, promptTokens - this.#contextTokens));
    }
    this.#before = undefined;
    this.#at = tools;
    this.#contextTokens = promptTokens + outputTokens;
    // A client that reads a stream may tell of a tool before the answer has ended.
    this.#asked = this.#told.length > 0 ? undefined : begun(tools, nowMs);
  }

  toolStarted(tool: ToolLatency, declaredMs: number | undefined, nowMs: number): void {
    this.#asked = undefined;
    this.#told = [...this.#told, begun(tool, nowMs, declaredMs)].slice(-AWAITED_MAX);
  }

  /** @param client how long clients take from the end of their tools to the next call */
  toolFinished(tool: ToolLatency, client: ToolLatency, nowMs: number): void {
    const ended = this.#awaited.find(({ latency }) => latency === tool);
    if (ended === undefined) return;
    this.#toolEnded(ended, nowMs);
    this.#told = this.#told.filter((other) => other !== ended);
    if (this.#told.length === 0) this.#asked = begun(client, nowMs);
  }

  /** The program has ended, or is presumed to have. */
  ended(): void {
    if (this.#at === undefined || this.#isEnded) return;
    this.graph.ended(this.#at);
    this.#isEnded = true;
  }

  /** The next call; undefined while one is in flight, and before enough threads of its type have ended. */
  next(nowMs: number): NextCall | undefined {
    const ahead = this.#at && this.graph.after(this.#at);
    if (ahead === undefined) return undefined;
    let tail = 0;
    let [medianMs, p95Ms] = [0, 0];
    for (const { latency, sinceMs, declaredMs } of this.#awaited) {
      const waitedMs = Math.max(0, nowMs - sinceMs);
      tail = Math.max(tail, latency.tail(waitedMs, declaredMs));
      medianMs = Math.max(medianMs, latency.restMs(0.5, waitedMs, declaredMs));
      p95Ms = Math.max(p95Ms, latency.restMs(0.95, waitedMs, declaredMs));
    }
    const silent = ahead.goesOn * tail;
    return {
      probability: silent / (silent + 1 - ahead.goesOn),
      medianMs,
      p95Ms,
      moreTokens: ahead.growthTokens,
      tools: ahead.tools?.name,
    };
  }

  get #awaited(): readonly Awaited[] {
    return this.#asked === undefined ? this.#told : [this.#asked];
  }

  #toolEnded({ latency, sinceMs, foreseen }: Awaited, nowMs: number): void {
    const ms = nowMs - sinceMs;
    const within = ms <= foreseen.medianMs ? 'p50' : ms <= foreseen.p95Ms ? 'p95' : 'none';
    this.accuracy.times[foreseen.source][within] += 1;
    latency.learn(ms);
  }
}

const begun = (latency: ToolLatency, sinceMs: number, declaredMs?: number): Awaited => ({
  latency,
  sinceMs,
  declaredMs,
  foreseen: latency.foreseen(declaredMs),
});
