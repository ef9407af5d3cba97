import { InvalidArgumentError, Option } from 'commander';
import { didYouMean } from '../sidecar/config/similar.js';

/** An option that is one of some words in lower case, however it is written; another word is told the one that may be meant. */
export function choice(flags: string, description: string, words: readonly string[]): Option {
  return new Option(flags, description).choices(words).argParser((word) => {
    const meant = words.find((each) => each === word.toLowerCase());
    if (meant !== undefined) return meant;
    throw new InvalidArgumentError(`It must be one of ${words.join(', ')}${didYouMean(word, words)}`);
  });
}
