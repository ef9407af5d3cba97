import { InvalidArgumentError, Option } from 'commander';
import { didYouMean } from '../sidecar/config/index.js';
import { numberFrom } from './number.js';

const SEED_MAX = 2 ** 32 - 1;

/** An option of several words, separated by commas or repeated. */
export function names(flags: string, description: string, known: readonly string[]): Option {
  return new Option(flags, description).choices(known).argParser((text, before?: readonly string[]) => {
    const words = text.split(',').map((word) => word.trim());
    for (const word of words)
      if (!known.includes(word))
        throw new InvalidArgumentError(`"${word}" is not one of ${known.join(', ')}${didYouMean(word, known)}`);
    return eachOnce([...(before ?? []), ...words]);
  });
}

/** Reads a repeated option. */
export const collect = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

/** Reads an option's numbers, separated by commas or repeated. */
export function numbersFrom(...range: Parameters<typeof numberFrom>) {
  const read = numberFrom(...range);
  return (text: string, before: readonly number[] = []): readonly number[] =>
    eachOnce([...before, ...text.split(',').map(read)]);
}

/** Reads an option's random seeds. */
export const seeds = numbersFrom(0, SEED_MAX, 'a whole number');

/** Reads words and numbers, separated by commas or repeated, that are checked with the configuration. */
export function settings(text: string, before: readonly (string | number)[] = []): readonly (string | number)[] {
  const values = text.split(',').map((each) => {
    const [word, value] = [each.trim(), Number(each)];
    return word === '' || !Number.isFinite(value) ? word : value;
  });
  return eachOnce([...before, ...values]);
}

/** A duplicate would run twice, and its second result would look like a finding. */
export function eachOnce<T>(items: readonly T[]): readonly T[] {
  const twice = items.find((item, at) => items.indexOf(item) < at);
  if (twice !== undefined)
    throw new InvalidArgumentError(
      `${String(twice)} is named twice, and would give the same result twice. Several seeds, such as --seed 1,2,3, show the spread of chance.`,
    );
  return items;
}
