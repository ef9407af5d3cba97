import { hashText, mix } from '../sim/index.js';
import { Dice } from '../workloads/index.js';

/**
 * Common English words of three letters. With the space before it, each is four bytes, and one token in every tokenizer
 * trained on English.
 */
export const COMMON_WORDS: readonly string[] = (
  'the and for are but not you all any can had her was one our out day get has him his how man new now old see two ' +
  'way who did its let put say she too use big end far few got hot job lot low map may off own pay per red sea set ' +
  'sit six son tax ten top try war win yes yet age ago air arm art ask bad bag bar bed bit box bus buy car cup cut ' +
  'dog due ear eat egg eye fit fly fun gas god gun guy hit ice key kid law lay leg lie lip mix mom net nor oil owe'
).split(' ');

/** Words of the text from which all made texts are cut: enough that prompts rarely wrap around. */
const CORPUS_WORDS = 2 ** 17;
/** Words that make a text unique: with 64 words to choose from, 48 bits. */
const TAG_WORDS = 8;

export interface Made {
  readonly seed: number;
  readonly words: number;
}

/**
 * Texts of a given number of words, each of which is one token (or a fixed number: see `tokensPerWord`). The texts are
 * slices of one long text, so that a thousand conversations take little memory.
 *
 *     [ tag: eight words by the seed ][ slice of the corpus from a place by the seed ............. ]
 *
 * For one seed, a shorter text is a prefix of a longer one. Texts of two seeds differ from their first words on.
 */
export class Words {
  readonly #corpus: string;
  /** Start of each word, and the end of the last. */
  readonly #starts: Int32Array;

  /** @param words at least two, of letters only */
  constructor(
    readonly words: readonly string[],
    /** As the target's tokenizer counts. */
    readonly tokensPerWord: number,
  ) {
    const dice = new Dice(0);
    const picked = Array.from({ length: CORPUS_WORDS }, () => words[dice.int(0, words.length - 1)] ?? '');
    this.#corpus = picked.join(' ');
    this.#starts = new Int32Array(CORPUS_WORDS + 1);
    picked.forEach((word, at) => (this.#starts[at + 1] = (this.#starts[at] ?? 0) + word.length + 1));
  }

  /** Number of words for this many tokens: at least one. */
  wordsFor(tokens: number): number {
    return Math.max(1, Math.round(tokens / this.tokensPerWord));
  }

  /** The text, without spaces at its ends. */
  text({ seed, words }: Made): string {
    let text = this.#tag(seed, Math.min(words, TAG_WORDS));
    let at = hashOf(seed, TAG_WORDS) % CORPUS_WORDS;
    for (let left = words - TAG_WORDS; left > 0;) {
      const count = Math.min(left, CORPUS_WORDS - at);
      // Each word ends with a space; the slice omits the last one.
      text += ` ${this.#corpus.slice(this.#starts[at], (this.#starts[at + count] ?? 0) - 1)}`;
      left -= count;
      at = 0;
    }
    return text;
  }

  #tag(seed: number, words: number): string {
    return Array.from({ length: words }, (_, at) => this.words[hashOf(seed, at) % this.words.length]).join(' ');
  }
}

/** 32 bits, never negative. */
const hashOf = (seed: number, at: number): number => mix(mix(0x51ed270b, seed), at + 1) >>> 0;

export const seedOf = (...parts: readonly (string | number)[]): number => hashText(parts.join('\n'));
