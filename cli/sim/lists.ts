import { existsSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { eachOnce, numberFrom } from '../options.js';

/* Options with several values, each of which is run. */

/** Runs of a command at most: more are a slip, such as a list too long in each of four flags. */
export const RUNS_MAX = 1000;
/** Values that a search tries at most, each with all settings and seeds. */
export const VALUES_MAX = 12;

export type NumberRange = Parameters<typeof numberFrom>;
export type NumbersReader = (text: string, before?: readonly number[]) => readonly number[];

/** Values of a range of loads, its ends included. */
const RANGE_VALUES = 5;

/** Reads an option's numbers, separated by commas or repeated, in rising order; `0.1..0.4` stands for five values in equal ratios, of two digits. */
export function loadsFrom(...range: NumberRange): NumbersReader {
  const digits = range[2] === 'a whole number' ? Math.round : (value: number) => Number(value.toPrecision(2));
  return rangesFrom(range, (from, to) => {
    const inside = Array.from(
      { length: RANGE_VALUES - 2 },
      (_, at) => from * (to / from) ** ((at + 1) / (RANGE_VALUES - 1)),
    );
    return [...new Set([from, ...inside.map(digits), to])];
  });
}

export const SEED_MAX = 2 ** 32 - 1;

/** As another reader, or `auto` alone. */
export const orAuto =
  (read: NumbersReader) =>
  (text: string, before?: readonly number[] | typeof AUTO): readonly number[] | typeof AUTO => {
    if (before === AUTO || (text.includes(AUTO) && (text !== AUTO || before !== undefined)))
      throw new InvalidArgumentError(`It is ${AUTO} alone, or numbers.`);
    return text === AUTO ? AUTO : read(text, before);
  };

/** As `loadsFrom`, whole numbers; `1..8` stands for all of them. */
export const wholesFrom = (least: number, most: number) =>
  rangesFrom([least, most, 'a whole number'], (from, to) => {
    if (to - from >= RUNS_MAX) throw new InvalidArgumentError(`A range has at most ${RUNS_MAX} numbers.`);
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });

export const seeds = wholesFrom(0, SEED_MAX);

/** Values that are looked for. */
export const AUTO = 'auto';

function rangesFrom(range: NumberRange, between: (from: number, to: number) => number[]) {
  const read = numberFrom(...range);
  const spread = (text: string): number[] => {
    if (text.trim() === '') throw new InvalidArgumentError('A number is missing before or after a comma.');
    const [from = NaN, to, ...more] = text.split('..').map(read);
    if (to === undefined) return [from];
    if (more.length > 0 || to <= from)
      throw new InvalidArgumentError('A range is two numbers, the smaller first, such as 1..8.');
    return between(from, to);
  };
  return (text: string, before: readonly number[] = []): readonly number[] =>
    eachOnce([...before, ...text.split(',').flatMap(spread)].sort((a, b) => a - b));
}

/** Reads things by their names or files, separated by commas or repeated. */
export const chosenFrom =
  <T extends { readonly name: string }>(choose: (name: string) => T) =>
  (text: string, before: readonly T[] = []): readonly T[] => {
    const chosen = [...before, ...(existsSync(text) ? [text] : text.split(',')).map((each) => choose(each.trim()))];
    eachOnce(chosen.map(({ name }) => name));
    return chosen;
  };

/** Reads words and numbers, separated by commas or repeated, that are checked with the configuration. */
export function settings(text: string, before: readonly (string | number)[] = []): readonly (string | number)[] {
  if (text.includes('..')) throw new InvalidArgumentError('It takes no range: give the values, separated by commas.');
  const values = text.split(',').map((each) => {
    const [word, value] = [each.trim(), Number(each)];
    return word === '' || !Number.isFinite(value) ? word : value;
  });
  return eachOnce([...before, ...values]);
}
