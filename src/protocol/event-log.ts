import type { Command, Event } from './events.js';
import type { Millis } from './units.js';

/**
 * The event log: every step of a scheduler as lines of JSON, so that it can be replayed. `docs/EVENT-LOG.md` describes it.
 * A log is its header, then steps and changes of settings in their order, then its end.
 */
export const EVENT_LOG_VERSION = 1;

export interface LogHeader {
  readonly maitredEventLog: typeof EVENT_LOG_VERSION;
  /** The version of maitred that wrote it. */
  readonly maitred: string;
  /** The wall clock, as ISO 8601, and at that moment the clock of all lines. */
  readonly startedAt: string;
  readonly now: Millis;
  /** The scheduler's settings with its balancer's. */
  readonly settings: unknown;
}

export interface LogStep {
  readonly now: Millis;
  readonly event: Event;
  readonly commands: readonly Command[];
}

export interface LogChange {
  readonly now: Millis;
  readonly settings: unknown;
  readonly commands: readonly Command[];
}

/** The last line: without one, whoever wrote was ended first. */
export interface LogEnd {
  /** `behind`: what the lines were written to was too slow for them. */
  readonly end: 'closed' | 'behind';
  /** Steps and changes in the log. */
  readonly steps: number;
}

export type LogLine = LogHeader | LogStep | LogChange | LogEnd;

/** A line of a log, without its end. Numbers keep their last digit; those that JSON has not are written as words. */
export function logLine(line: LogLine): string {
  const text = JSON.stringify(line);
  // Nothing in a log is null: where that is written, a number is none of JSON's, or a name has these letters.
  return text.includes('null') ? JSON.stringify(line, inWords) : text;
}

const inWords = (_key: string, value: unknown) =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
