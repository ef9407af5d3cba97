import type { Dispatch, EngineId, Millis, ProgramGone, ProgramId, Usage } from '../../src/index.js';
import type { AnswerFacts } from '../apis/api.js';
import type { ErrorCode } from '../errors.js';
import type { CallHandle, CallReport, CallSpec, FailureCause } from './spec.js';

/** A part of the gateway that hears of calls and programs. Times are on the driver's clock. */
export interface Observer {
  /** The call was refused before it entered the queue. */
  refused?(spec: CallSpec, code: ErrorCode, nowMs: Millis, message: string): void;
  accepted?(call: CallHandle): void;
  dispatched?(spec: CallSpec, dispatch: Dispatch, isRetry: boolean): void;
  /** The first event of a stream is there, so long after its dispatch. Told of calls for which somebody waits. */
  began?(engine: EngineId, firstTokenMs: number): void;
  /** An engine failed an attempt, or had no room for it. @param message absent: it had none */
  engineFailed?(spec: CallSpec, engine: EngineId, cause: FailureCause, message?: string): void;
  /** The client of a waiting call was sent a comment. */
  commented?(): void;
  /** An engine gave its response this id; told again with its usage. */
  madeResponse?(id: string, spec: CallSpec, engine: EngineId, usage?: Usage): void;
  answered?(spec: CallSpec, facts: AnswerFacts, usage: Usage | undefined): void;
  ended?(call: CallHandle, report: CallReport, nowMs: Millis): void;
  /** The program was ended. @param by absent: its client */
  programEnded?(program: ProgramId, by?: 'operator'): void;
  /** The program's row has left the scheduler's table. */
  programGone?(gone: ProgramGone, nowMs: Millis): void;
}

type Arguments<K extends keyof Observer> = Parameters<NonNullable<Observer[K]>>;
type Hears = (...args: readonly unknown[]) => void;

/** All observers, told in the order in which they joined. */
export class Observers {
  readonly #observers: Observer[] = [];
  /** Bound once: looking methods up by name costs more than most of them do. */
  #hearing: { [event in keyof Observer]?: readonly Hears[] } = {};

  add(...observers: readonly Observer[]): void {
    this.#observers.push(...observers);
    this.#hearing = {};
  }

  tell<K extends keyof Observer>(event: K, ...args: Arguments<K>): void {
    const hearing = (this.#hearing[event] ??= this.#observers.flatMap(
      (observer) => (observer[event]?.bind(observer) as Hears | undefined) ?? [],
    ));
    for (const hears of hearing) hears(...args);
  }
}
