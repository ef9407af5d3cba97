import { InvalidArgumentError } from 'commander';
import { eachOnce, numberFrom } from '../options.js';

/* Options with several values, each of which is run. */

/** Reads an option's numbers, separated by commas or repeated. */
export function numbersFrom(...range: Parameters<typeof numberFrom>) {
  const read = numberFrom(...range);
  return (text: string, before: readonly number[] = []): readonly number[] =>
    eachOnce([...before, ...text.split(',').map(read)]);
}

/** Values of a range, its ends included. */
const RANGE_VALUES = 5;

/** As `numbersFrom`; `0.1..0.4` stands for five values in equal ratios, of two digits. */
export function loadsFrom(...range: Parameters<typeof numberFrom>) {
  const read = numberFrom(...range);
  const spread = (text: string): number[] => {
    const [from = NaN, to, ...more] = text.split('..').map(read);
    if (to === undefined) return [from];
    if (more.length > 0 || to <= from)
      throw new InvalidArgumentError('A range is two numbers, the smaller first, such as 0.1..0.4.');
    const inside = Array.from({ length: RANGE_VALUES - 2 }, (_, at) => from * (to / from) ** ((at + 1) / (RANGE_VALUES - 1))); // prettier-ignore
    const digits = range[2] === 'a whole number' ? Math.round : (value: number) => Number(value.toPrecision(2));
    return [...new Set([from, ...inside.map(digits), to])];
  };
  return (text: string, before: readonly number[] = []): readonly number[] =>
    eachOnce([...before, ...text.split(',').flatMap(spread)]);
}

export const SEED_MAX = 2 ** 32 - 1;
export const seeds = numbersFrom(0, SEED_MAX, 'a whole number');

/** Reads words and numbers, separated by commas or repeated, that are checked with the configuration. */
export function settings(text: string, before: readonly (string | number)[] = []): readonly (string | number)[] {
  const values = text.split(',').map((each) => {
    const [word, value] = [each.trim(), Number(each)];
    return word === '' || !Number.isFinite(value) ? word : value;
  });
  return eachOnce([...before, ...values]);
}
