import { BYTES_PER_TOKEN, mix } from './tokens.js';

const WORDS = (
  'the of and a to in is that it for on with as at by from this an be are or not can one all if more when use code ' +
  'file test value line path name call step result change function module error check read write run list build ' +
  'first next then here there each between after before because while where which does should would may must find ' +
  'open close update return type data model queue cache token server client request answer engine program agent ' +
  'small large fast slow clear simple whole part same other new old'
).split(' ');

/**
 * English-looking text of exactly `tokens` tokens, a pure function of the seed. For one seed, a shorter text is a
 * prefix of a longer one except for its last character. It neither begins nor ends with a space, for clients that trim.
 */
export function prose(seed: number, tokens: number): string {
  const length = tokens * BYTES_PER_TOKEN;
  const parts: string[] = [];
  let state = seed;
  let written = 0;
  let sentenceLeft = 0;
  while (written < length) {
    state = mix(state + 0x6d2b79f5, written);
    const pick = state >>> 0;
    let word = WORDS[pick % WORDS.length] ?? '';
    if (sentenceLeft === 0) {
      word = word.charAt(0).toUpperCase() + word.slice(1);
      sentenceLeft = 5 + ((pick >>> 24) % 12);
    }
    sentenceLeft -= 1;
    const part = word + (sentenceLeft === 0 ? '. ' : ' ');
    parts.push(part);
    written += part.length;
  }
  const text = parts.join('').slice(0, length);
  return text.endsWith(' ') ? `${text.slice(0, -1)}.` : text;
}
