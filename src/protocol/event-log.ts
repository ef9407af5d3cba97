import type { Command, Event } from './events.js';
import type { Millis } from './units.js';

/** The event log (`docs/JSON.md`): its header, then steps and changes of settings in their order, then its end. */
export const EVENT_LOG_VERSION = 1;

interface LogHeader {
  readonly maitredEventLog: typeof EVENT_LOG_VERSION;
  readonly maitred: string;
  /** The core's behaviour (`behaviour.ts`). */
  readonly behaviour: number;
  /** The wall clock, as ISO 8601; `now` is the driver's clock at the same moment. */
  readonly startedAt: string;
  readonly now: Millis;
  /** The scheduler's settings, with its balancer's settings. */
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

/** The last line; it is missing when the writer was killed. */
interface LogEnd {
  /** `behind`: the disk could not keep up. */
  readonly end: 'closed' | 'behind';
  /** Steps and changes in the log. */
  readonly steps: number;
}

export type LogLine = LogHeader | LogStep | LogChange | LogEnd;

/** A line of a log, without its line break. Numbers keep their last digit; NaN and infinities are written as words. */
export function logLine(line: LogLine): string {
  const text = JSON.stringify(line);
  // No value in a log is null: "null" means a number that JSON cannot write, or a name with these letters.
  return text.includes('null') ? JSON.stringify(line, inWords) : text;
}

const inWords = (_key: string, value: unknown) =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
