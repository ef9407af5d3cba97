import type { CompletionIndex } from '../programs/completion-index.js';
import type { Calibration } from './calibration.js';
import type { ExecutionGraph } from './execution-graph.js';
import { ThreadPath, type NextCall } from './thread-path.js';

/** Threads of one program whose next calls are foreseen, the last used. */
const THREADS_MAX = 64;

/** Work declared for the rest of a program, and the program's service at that time. */
interface Declaration {
  readonly declaredMs: number;
  readonly serviceMs: number;
}

/** Service to come of a program, in milliseconds, and who says so. Infinity: no program of its type ended after as much. */
export interface ForecastView {
  readonly source: 'declared' | 'learnt';
  readonly remainingMs: number;
}

/** What is expected of one program: by its own declaration where those are right, else by its agent type. */
export class Outlook {
  #first: Declaration | undefined;
  #last: Declaration | undefined;
  readonly #paths = new Map<string, ThreadPath>();

  /**
   * @param type how soon programs of its agent type end; undefined: it has none
   * @param declarations how right its tenant's declarations are
   */
  constructor(
    readonly type: CompletionIndex | undefined,
    private readonly declarations: Calibration,
  ) {}

  /** The client declares the rest of the program; a later declaration replaces an earlier one. */
  declare(declaredMs: number, serviceMs: number): void {
    this.#last = { declaredMs, serviceMs };
    this.#first ??= this.#last;
  }

  /** The path of a thread; undefined before its first call with foresight. */
  path(thread: string): ThreadPath | undefined {
    return this.#paths.get(thread);
  }

  /** A call of the thread arrives. @param graph of its agent type */
  arrived(thread: string, graph: ExecutionGraph, nowMs: number): void {
    const path = this.#paths.get(thread) ?? new ThreadPath(graph);
    this.#paths.delete(thread);
    this.#paths.set(thread, path);
    path.arrived(nowMs);
    if (this.#paths.size <= THREADS_MAX) return;
    const [[oldest, unused] = ['', path]] = this.#paths;
    unused.ended();
    this.#paths.delete(oldest);
  }

  /** The next call of a thread; undefined: it is not foreseen, or one is in flight. */
  next(thread: string, nowMs: number): NextCall | undefined {
    return this.#paths.get(thread)?.next(nowMs);
  }

  /** Service to come, in milliseconds, of a program that has attained `serviceMs`; undefined: unknown. */
  remainingMs(serviceMs: number): number | undefined {
    return this.#declaredMs(serviceMs) ?? (this.type?.isLearnt === true ? this.type.msToEnd(serviceMs) : undefined);
  }

  /** `remainingMs` with its source, for views: looking must not bring the type's next reading forward. */
  view(serviceMs: number): ForecastView | undefined {
    const declaredMs = this.#declaredMs(serviceMs);
    if (declaredMs !== undefined) return { source: 'declared', remainingMs: declaredMs };
    const type = this.type?.asRead;
    return type?.isLearnt === true ? { source: 'learnt', remainingMs: type.msToEnd(serviceMs) } : undefined;
  }

  /** Service of the whole program as declared; undefined when nothing trustworthy was. */
  totalMs(serviceMs: number): number | undefined {
    const leftMs = this.#declaredMs(serviceMs);
    return leftMs === undefined ? undefined : serviceMs + leftMs;
  }

  /** The program has ended: its declaration is judged by what it attained. */
  ended(serviceMs: number): void {
    this.type?.ended(serviceMs);
    for (const path of this.#paths.values()) path.ended();
    if (this.#first !== undefined) this.declarations.learn(this.#first.declaredMs, serviceMs - this.#first.serviceMs);
  }

  /** A program that has outlived its declaration counts as one without. */
  #declaredMs(serviceMs: number): number | undefined {
    if (this.#last === undefined) return undefined;
    const expectedMs = this.declarations.expectedMs(this.#last.declaredMs) ?? 0;
    const leftMs = expectedMs - (serviceMs - this.#last.serviceMs);
    return leftMs > 0 ? leftMs : undefined;
  }
}
