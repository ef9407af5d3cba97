import { InvalidArgumentError, Option } from 'commander';
import { didYouMean } from '../sidecar/config/index.js';

/** An option with a fixed set of lower-case words, read in any case. A wrong word gets a suggestion. */
export function choice(flags: string, description: string, words: readonly string[]): Option {
  return new Option(flags, description).choices(words).argParser((word) => {
    const meant = words.find((each) => each === word.toLowerCase());
    if (meant !== undefined) return meant;
    throw new InvalidArgumentError(`It must be one of ${words.join(', ')}${didYouMean(word, words)}`);
  });
}
