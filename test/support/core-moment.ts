import type { BalancerName } from '../../loadbalancer/index.js';
import type { LasDecayed } from '../../sim/policies/las-decayed.js';
import type { Balancer, Command, Event, Policy, PolicyName, Scheduler, SchedulerConfig } from '../../src/index.js';
import type { Book } from './core-book.js';

/** One step of a random run, after it was taken. */
export interface Moment {
  /** Undefined when the settings were changed instead. */
  readonly event: Event | undefined;
  readonly nowMs: number;
  readonly commands: readonly Command[];
  readonly book: Book;
  readonly scheduler: Scheduler;
  readonly config: SchedulerConfig;
}

/** A policy, some of which are told each step. */
export type WatchingPolicy = Policy & Partial<Pick<LasDecayed, 'stepped'>>;

export interface PlayOptions {
  readonly seed: number;
  /** Random events before the world is closed down; 40. */
  readonly steps?: number;
  /** A policy's name, or what makes a policy of the test's own; likewise the balancer. */
  readonly policy?: PolicyName | (() => WatchingPolicy);
  readonly balancer?: BalancerName | (() => Balancer);
  /** Settings laid over the random ones. */
  readonly adjust?: (config: SchedulerConfig) => SchedulerConfig;
  /** Leaves out events that a statement does not cover. */
  readonly without?: readonly ('configure' | 'trouble' | 'cached')[];
  /** Whether clients whose calls are cancelled may return, and do. */
  readonly ghosts?: true;
  /** Longest prompt that the engines take; absent: they do not say. Prompts go up to 1,500 tokens. */
  readonly contextMax?: number;
  readonly onMoment?: (moment: Moment) => void;
  /** Called at the end: all engines are up again, all calls over, all leases expired. */
  readonly onEnd?: (moment: Moment) => void;
}
