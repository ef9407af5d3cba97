import { InvalidArgumentError } from 'commander';

/** Twenty-four days: the longest time of a timer. */
const WAIT_MS_MAX = 2 ** 31 - 1;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, '': 1000, s: 1000, m: 60_000, h: 3_600_000 };

/** Reads a time with its unit as milliseconds; without a unit, seconds. */
export function duration(text: string): number {
  const [, digits = '', unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)?\s*$/.exec(text) ?? [];
  const ms = digits === '' ? NaN : Number(digits) * (UNIT_MS[unit] ?? NaN);
  if (ms > 0 && ms <= WAIT_MS_MAX) return ms;
  throw new InvalidArgumentError('It must be a time above 0, such as 500ms, 90s, 5m or 1h, and at most 24 days.');
}
