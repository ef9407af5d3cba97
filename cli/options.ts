import { InvalidArgumentError, Option, type Command } from 'commander';
import { didYouMean } from '../sidecar/config/index.js';

/* Values of options: numbers, times, words, and secrets by the names of their variables. */

export function numberFrom(least: number, most: number, kind: 'a number' | 'a whole number' = 'a number') {
  return (text: string): number => {
    const value = text.trim() === '' ? NaN : Number(text);
    const isRight = value >= least && value <= most && (kind === 'a number' || Number.isInteger(value));
    if (!isRight) throw new InvalidArgumentError(`It must be ${kind} from ${least} to ${most}.`);
    return value;
  };
}

export const wholeFrom = (least: number, most: number) => numberFrom(least, most, 'a whole number');

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

/** An option with a fixed set of lower-case words, read in any case. A wrong word gets a suggestion. @param others right, too, and not listed */
export function choice(flags: string, description: string, words: readonly string[], ...others: string[]): Option {
  return new Option(flags, description).choices(words).argParser((word) => {
    const meant = [...words, ...others].find((each) => each === word.toLowerCase());
    if (meant !== undefined) return meant;
    const bare = words.filter((each) => !each.startsWith('-'));
    const signed = bare.length < words.length ? ', each also with a minus sign' : '';
    throw new InvalidArgumentError(`It must be one of ${bare.join(', ')}${signed}${didYouMean(word, words)}`);
  });
}

/** An option of several words, separated by commas or repeated. */
export function names(flags: string, description: string, known: readonly string[]): Option {
  return new Option(flags, description).choices(known).argParser((text, before?: readonly string[]) => {
    const words = text.split(',').map((word) => word.trim());
    for (const word of words)
      if (!known.includes(word))
        throw new InvalidArgumentError(`"${word}" must be one of ${known.join(', ')}${didYouMean(word, known)}`);
    return eachOnce([...(before ?? []), ...words]);
  });
}

export const collect = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

/** A duplicate would run twice, and its second result would look like a finding. */
export function eachOnce<T>(items: readonly T[]): readonly T[] {
  const twice = items.find((item, at) => items.indexOf(item) < at);
  if (twice !== undefined) throw new InvalidArgumentError(`${String(twice)} is named twice.`);
  return items;
}

/** The value of the environment variable that an option names; ends the command if it is not set. */
export function secretIn(command: Command, option: string, variable: string): string {
  const secret = process.env[variable]?.trim() ?? '';
  // Without its word: a secret given by mistake must not appear in a log.
  return secret === ''
    ? command.error(`${option} takes the name of an environment variable, not the secret, and none of that name is set`)
    : secret;
}
