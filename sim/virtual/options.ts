import type { CallId, Command, Event, Millis } from '../../src/index.js';
import type { EngineSettings, EngineTotals } from '../engine/engine.js';
import type { Conditions } from './conditions.js';
import type { Observer } from './records.js';
import type { AgentProgram, Arrivals } from '../../workloads/index.js';

/** The core's scheduler, or what answers as it does. */
export interface Steps {
  step(event: Event, now: Millis): Command[];
  /** Wants the hashes of each prompt's leading blocks; absent: no. */
  readonly readsPrefix?: boolean;
  /** Wants to hear how far running calls are; absent: no, as it changes nothing for a scheduler that measures time. */
  readonly readsProgress?: boolean;
  /** Of clairvoyant policies: is told what no gateway can know. */
  readonly oracle?: Oracle;
  /** Running totals, where it keeps them. */
  readonly totals?: { readonly promotions: number };
}

/** Is told of each call, by its true lengths, what it and its program will take (see `service.ts`). */
export interface Oracle {
  /** A call is about to arrive. @param programMs service of all calls of its program that have not ended, itself included */
  arrives(id: CallId, callMs: number, programMs: number): void;
  /** It has ended. */
  ended(id: CallId): void;
}

export interface WorldOptions {
  /** Pulled one at a time, shortly before each arrives. */
  readonly programs: Iterable<AgentProgram>;
  /** How many of them to run; absent: all. */
  readonly maxPrograms?: number;
  readonly arrivals: Arrivals;
  /** Of all chance in the world: open arrivals, and each of the conditions. */
  readonly seed: number;
  /** How many engines, all alike. */
  readonly engines: number;
  /** Under `priority` scheduling the queue that a call ran from, 0 first, is its priority on the engine. */
  readonly engine: EngineSettings;
  /** A fresh one, made at the start and again whenever the gateway restarts. */
  readonly scheduler: () => Steps;
  /** What goes wrong; absent: nothing, and clients wait as long as it takes. */
  readonly conditions?: Conditions;
  readonly observer: Observer;
  /** Time between two load reports of an engine, and how old each is when it comes; absent: 2,000 and 0. */
  readonly reports?: { readonly everyMs?: number; readonly staleMs?: number };
  /** Whether clients say that a program has ended; absent: no, as few clients do. */
  readonly announceEnds?: boolean;
  /** Changes events on their way to the scheduler (see `lenses.ts`). */
  readonly lens?: Lens;
  /** Whether programs are also run alone, for `ProgramRecord.aloneMs`, which is else NaN; absent: yes. */
  readonly alone?: boolean;
  /** Asked every now and then; true ends the run, without the programs that have not ended. */
  readonly shouldStop?: () => boolean;
}

export type Lens = (event: Event) => Event;

export interface WorldResult {
  /** False: `shouldStop` said so. */
  readonly complete: boolean;
  /** Programs and calls that have ended, and those among them that did not complete, by what went wrong. */
  readonly programs: number;
  readonly calls: number;
  readonly programOutcomes: Readonly<Record<string, number>>;
  readonly callOutcomes: Readonly<Record<string, number>>;
  /** Calls asked again by their clients, by what had gone wrong. */
  readonly retries: Readonly<Record<string, number>>;
  /** Calls never made, as one before them failed. */
  readonly callsCancelled: number;
  /** From the first arrival to the last end. */
  readonly makespanMs: number;
  /** Calls that the scheduler moved to the front since they had waited too long. */
  readonly promotions: number;
  readonly engines: readonly EngineResult[];
}

export interface EngineResult extends Readonly<EngineTotals> {
  readonly engine: string;
  /** Time in steps, and the mean share of KV blocks held in it. */
  readonly busyMs: number;
  readonly kvUsage: number;
}
