import type { CompletionIndex } from '../programs/completion-index.js';
import type { Accuracy } from './accuracy.js';
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
export interface Forecast {
  readonly source: 'declared' | 'learnt';
  readonly remainingMs: number;
}

/** Forecast of one program: by its own declaration where those are right, else by its agent type. */
export class Outlook {
  #first: Declaration | undefined;
  #last: Declaration | undefined;
  /** The first finite forecast, and the program's service at that time. */
  #judged: { readonly forecast: Forecast; readonly serviceMs: number } | undefined;
  /** Whether its declaration has been judged by its service so far. */
  #isCalibrated = false;
  readonly #paths = new Map<string, ThreadPath>();

  /**
   * @param type how soon programs of its agent type end
   * @param declarations how right its tenant's declarations are
   */
  constructor(
    private readonly type: CompletionIndex,
    private readonly declarations: Calibration,
    private readonly accuracy: Accuracy,
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
    const path = this.#paths.get(thread) ?? new ThreadPath(graph, this.accuracy);
    this.#paths.delete(thread);
    this.#paths.set(thread, path);
    path.arrived(nowMs);
    if (this.#paths.size <= THREADS_MAX) return;
    const [[oldest, unused] = ['', path]] = this.#paths;
    unused.ended();
    this.#paths.delete(oldest);
  }

  /** A call has arrived, and been declared. The first forecast is remembered, to be judged at the end of the program. */
  foresee(serviceMs: number): void {
    this.type.refresh();
    if (this.#judged !== undefined) return;
    const forecast = this.view(serviceMs);
    if (forecast !== undefined && Number.isFinite(forecast.remainingMs)) this.#judged = { forecast, serviceMs };
  }

  /** The next call of a thread; undefined: it is not foreseen, or one is in flight. */
  next(thread: string, nowMs: number): NextCall | undefined {
    return this.#paths.get(thread)?.next(nowMs);
  }

  view(serviceMs: number): Forecast | undefined {
    const declaredMs = this.declaredMs(serviceMs);
    if (declaredMs !== undefined) return { source: 'declared', remainingMs: declaredMs };
    return this.type.isLearnt ? { source: 'learnt', remainingMs: this.type.lastMsToEnd(serviceMs) } : undefined;
  }

  /**
   * The rest by the first declaration, or by the last if that is more. Only the first is judged: by declaring a small rest
   * anew with each call, a client would gain otherwise. A program that has outlived both counts as one without:
   * undefined.
   */
  declaredMs(serviceMs: number): number | undefined {
    const leftMs = Math.max(this.#leftMs(this.#first, serviceMs), this.#leftMs(this.#last, serviceMs));
    return leftMs > 0 ? leftMs : undefined;
  }

  /** Service of the whole program as declared; undefined when nothing trustworthy was. */
  totalMs(serviceMs: number): number | undefined {
    const leftMs = this.declaredMs(serviceMs);
    return leftMs === undefined ? undefined : serviceMs + leftMs;
  }

  /** The program is presumed to have ended: judges its declaration, unless that is to wait for its real end. */
  presumedEnded(serviceMs: number): void {
    this.#endPaths();
    if (this.#first === undefined) return;
    this.declarations.presumedEnded();
    if (this.declarations.trustsPresumedEnds) this.#calibrate(this.#first, serviceMs);
  }

  /** The program was presumed to have ended, and has come back. */
  revived(): void {
    if (this.#first !== undefined) this.declarations.revived();
    this.#isCalibrated = false;
  }

  /** The program has ended: judges its first forecast, and its declaration unless that has been. */
  ended(serviceMs: number, wasPresumed: boolean): void {
    if (!wasPresumed) this.#endPaths();
    if (this.#judged !== undefined) {
      const { forecast, serviceMs: fromMs } = this.#judged;
      this.accuracy.ended(forecast.source, forecast.remainingMs, serviceMs - fromMs);
    }
    if (this.#first !== undefined && !this.#isCalibrated) this.#calibrate(this.#first, serviceMs);
  }

  #endPaths(): void {
    for (const path of this.#paths.values()) path.ended();
  }

  #calibrate({ declaredMs, serviceMs: fromMs }: Declaration, serviceMs: number): void {
    this.declarations.learn(declaredMs, serviceMs - fromMs);
    this.#isCalibrated = true;
  }

  #leftMs(declaration: Declaration | undefined, serviceMs: number): number {
    if (declaration === undefined) return 0;
    const expectedMs = this.declarations.expectedMs(declaration.declaredMs) ?? 0;
    return expectedMs - (serviceMs - declaration.serviceMs);
  }
}
