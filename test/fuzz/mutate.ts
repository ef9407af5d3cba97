import type { Dice } from '../support/dice.js';

/** Values that parsers get wrong. */
const ODD_VALUES = [
  ...String.raw`null true -1 0 -0 1e308 1e999 9007199254740993 0.1 "" "\ud800" "\u0000" "__proto__"`.split(' '),
  ...'[] {} [[[[[[]]]]]] {"__proto__":{"x":1}} {"type":"text","text":null} [{"type":"function"}]'.split(' '),
];
const ODD_TEXT = [
  '\n',
  '\r\n',
  '\n\n',
  '\0',
  '\uFEFF',
  '\u2028',
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  ':',
  ',',
  '#',
  '- ',
  '&a ',
  '*a',
  '<<: ',
];
/** A value of JSON, found as text: near enough to change most of them. */
const VALUE = /(?<=[:[,]\s*)(?:"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)/g;
const KEY = /"(?:[^"\\]|\\.)*"(?=\s*:)/g;

/** One of many inputs: a sample, or several, changed in a few places. The same dice give the same bytes. */
export function mutated(samples: readonly string[], dice: Dice): Buffer {
  let text = dice.pick(samples);
  for (let changes = dice.int(0, 6); changes > 0; changes -= 1) text = changed(text, samples, dice);
  const bytes = Buffer.from(text);
  if (bytes.length > 0 && dice.chance(0.2)) bytes[dice.int(0, bytes.length - 1)] = dice.int(0, 255);
  return dice.chance(0.1) ? bytes.subarray(0, dice.int(0, bytes.length)) : bytes;
}

function changed(text: string, samples: readonly string[], dice: Dice): string {
  const at = dice.int(0, text.length);
  const end = Math.min(text.length, at + dice.int(0, 40));
  switch (dice.int(0, 8)) {
    case 0:
      return text.slice(0, at) + text.slice(end);
    case 1:
      return text.slice(0, end) + text.slice(at, end).repeat(dice.int(1, 20)) + text.slice(end);
    case 2:
      return text.slice(0, at) + dice.pick(ODD_TEXT) + text.slice(at);
    case 3: {
      const other = dice.pick(samples);
      return text.slice(0, at) + other.slice(dice.int(0, other.length));
    }
    case 4:
      return replaced(text, KEY, (keys) => dice.pick(keys), dice);
    case 5: {
      const lines = text.split('\n');
      lines.splice(dice.int(0, lines.length), 0, dice.pick(lines));
      return lines.join('\n');
    }
    case 6:
      return text.replaceAll('\n', dice.pick(['\r\n', '\r']));
    default:
      return replaced(text, VALUE, (values) => (dice.chance(0.3) ? dice.pick(values) : dice.pick(ODD_VALUES)), dice);
  }
}

/** Puts something else in the place of one match. */
function replaced(text: string, pattern: RegExp, choose: (found: readonly string[]) => string, dice: Dice): string {
  const matches = [...text.matchAll(pattern)];
  if (matches.length === 0) return text;
  const match = dice.pick(matches);
  return (
    text.slice(0, match.index) + choose(matches.map(([found]) => found)) + text.slice(match.index + match[0].length)
  );
}
