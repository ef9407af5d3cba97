import type { CallId, Command, Event, Family, Millis, ProgramId, Views } from '../../src/index.js';
import type { EngineSettings } from '../engine/engine.js';
import type { Conditions } from './conditions.js';
import type { PrefixOf } from '../policies/balancers.js';
import type { AgentProgram, Arrivals } from '../../workloads/index.js';

/**
 * Measurements of calls and programs, by the simulator in virtual time and by the load tester in real time. Times are
 * milliseconds of one clock; NaN: never reached.
 */
export interface CallRecord {
  readonly program: string;
  /** The program's workload in a mixture; '' when there is only one. */
  readonly workload: string;
  readonly call: number;
  readonly thread: string;
  /** Time at which its client sent it, or meant to: waiting for a busy client counts. */
  readonly arrivedMs: number;
  readonly dispatchedMs: number;
  readonly firstTokenMs: number;
  readonly endedMs: number;
  readonly engine: string | undefined;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly outcome: CallOutcome;
}

/** `completed`, or the code of the fault: a refusal of the scheduler, or an error class of the load tester. */
export type CallOutcome = 'completed' | (string & {});

type OfBoth = 'program' | 'workload' | 'arrivedMs' | 'promptTokens' | 'outputTokens' | 'outcome';

export interface ProgramRecord extends Pick<CallRecord, OfBoth> {
  /** End of its last call. A failed call ends its program: the calls that depend on it are never made. */
  readonly endedMs: number;
  /** Calls that were made, and calls never made because an earlier one failed. */
  readonly calls: number;
  readonly callsCancelled: number;
  /** Longest wait of one of its calls for an engine. */
  readonly longestQueueMs: number;
  /** Its time in an empty system; NaN when unknown. */
  readonly aloneMs: number;
}

export interface Observer {
  callEnded?(record: CallRecord): void;
  programEnded(record: ProgramRecord): void;
}

/** The core's scheduler, or a stand-in with the same interface. */
export interface Steps {
  step(event: Event, now: Millis): Command[];
  /** Whether it uses what clients declare of their programs' remaining work; absent: no. */
  readonly readsRemaining?: boolean;
  /** For clairvoyant policies: receives facts that no gateway can know. */
  readonly oracle?: Oracle;
  /** Its messages to other gateways; absent: it cannot share engines. */
  readonly views?: Pick<Views, 'demands' | 'record' | 'waiting'>;
  /** Running totals, if it keeps them. */
  readonly totals?: { readonly promotions: number };
}

export interface Oracle {
  /**
   * A call is about to arrive.
   * @param programMs true service of all unfinished calls of its program, itself included (see `declared.ts`)
   */
  arrives(id: CallId, programMs: number): void;
  ended(id: CallId): void;
  /** A call is about to be answered. @param returns whether its thread calls again */
  answered(program: ProgramId, thread: string, returns: boolean): void;
}

/** Several gateways in front of the same engines, and what they share. */
export interface ClusterOptions {
  readonly gateways: number;
  /** Time of a message to the store, and of one back. */
  readonly delayMs: number;
  /** The gateway of a call: any, or always the same one of its program. */
  readonly routing: 'call' | 'program';
  /** Whether they share anything; otherwise each schedules alone. */
  readonly shares: boolean;
  /** Share of questions to the store without an answer in time; half of them never reach it. Absent: 0. */
  readonly lossShare?: number;
}

export interface WorldOptions {
  /** Pulled one at a time, shortly before each program arrives. */
  readonly programs: Iterable<AgentProgram>;
  /** Absent: all. */
  readonly maxPrograms?: number;
  readonly arrivals: Arrivals;
  /** Seed of all randomness in the world: open arrivals, and each of the conditions. */
  readonly seed: number;
  readonly engines: number;
  readonly engine: EngineSettings;
  /**
   * Makes a fresh scheduler, at the start and whenever the gateway restarts.
   * @param prefixOf hashes of the beginning of an open call's prompt
   */
  readonly scheduler: (prefixOf: PrefixOf) => Steps;
  /** Faults and client behaviour; absent: nothing fails, and clients wait without limit. */
  readonly conditions?: Conditions;
  readonly observer: Observer;
  /** Time from a call's dispatch until its engine has it; absent: none. */
  readonly outsideMs?: number;
  readonly cluster?: ClusterOptions;
  /** Whether clients announce the end of a program; absent: no, as few clients do. */
  readonly announceEnds?: boolean;
  /** The family that the gateway finds for a program's thread; absent: by the named text in the thread's prompt. */
  readonly familyOf?: (program: string, thread: string) => Family | undefined;
  /** The objective of a call's class; absent: none has one. */
  readonly objectiveOf?: (program: AgentProgram, thread: string) => Millis | undefined;
  /** Whether programs are also run alone, for `ProgramRecord.aloneMs`, which is NaN otherwise; absent: yes. */
  readonly alone?: boolean;
  /** Polled every now and then; true ends the run, dropping programs that have not ended. */
  readonly shouldStop?: () => boolean;
}

/** The same, with schedulers that have what they asked for. */
export interface GatewayOptions extends Omit<WorldOptions, 'scheduler'> {
  readonly scheduler: () => Steps;
}
