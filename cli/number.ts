import { InvalidArgumentError } from 'commander';

/** Reads an option's number; refuses other text and values out of range. */
export function numberFrom(least: number, most: number, kind: 'a number' | 'a whole number' = 'a number') {
  return (text: string): number => {
    const value = text.trim() === '' ? NaN : Number(text);
    const isRight = value >= least && value <= most && (kind === 'a number' || Number.isInteger(value));
    if (!isRight) throw new InvalidArgumentError(`It must be ${kind} from ${least} to ${most}.`);
    return value;
  };
}
