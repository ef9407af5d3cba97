import type { IncomingHttpHeaders } from 'node:http';
import { didYouMean, similarTo } from '../config/index.js';
import { GatewayError } from '../errors.js';

const PREFIX = 'x-maitred-';
/** Headers of calls. */
const NAMES = ['program', 'thread', 'parent', 'final', 'workflow', 'budget', 'remaining'];
/** Headers of answers, which say nothing in a call: a client may send back what it got. */
const TOLD =
  'call engine level placement queue-ms expected-ms expected-p90-ms inherited-ms reason forecast budget-left policy';
const KNOWN = new Set([...NAMES, ...TOLD.split(' ')].map((word) => PREFIX + word));
const FLAG = /^\s*(?:true|1|yes|false|0|no|)\s*$/i;
const QUOTE_MAX = 80;

/** Refuses a misspelt header of ours, whose effect would be missed in silence. @throws GatewayError `bad_request` */
export function checkOurHeaders(headers: IncomingHttpHeaders): void {
  for (const name in headers) {
    if (!name.startsWith(PREFIX)) continue;
    if (!KNOWN.has(name))
      throw badHeader(name, `There is no header ${quoted(name)}; ${whatElse(name.slice(PREFIX.length))}`);
    if (name === 'x-maitred-final' && !FLAG.test(String(headers[name])))
      throw badHeader(name, `The header ${name} must be true or false, not ${quoted(String(headers[name]))}.`);
  }
}

function whatElse(word: string): string {
  const meant = similarTo(word, NAMES);
  if (meant !== undefined) return `did you mean ${PREFIX}${meant}?`;
  const priority = word.includes('prio') ? '; docs/OPERATIONS.md#priority says what sets the order of calls' : '';
  return `there are ${NAMES.map((each) => PREFIX + each).join(', ')}${priority}.`;
}

/**
 * Whole numbers by name, a dictionary of RFC 8941 (`a=1, b=2`).
 * @param names all that are known
 * @param form what the header must be, in words
 * @throws GatewayError `bad_request` that quotes the first wrong part
 */
export function readNumbers(
  header: string,
  text: string,
  names: readonly string[],
  [least, most]: readonly [number, number],
  form: string,
): Readonly<Record<string, number>> {
  const numbers: Record<string, number> = {};
  for (const member of text.split(',')) {
    const part = member.trim();
    const [name = '', digits = '', ...more] = part.split('=');
    const isKnown = names.includes(name);
    const value = /^\d{1,13}$/.test(digits) && more.length === 0 ? Number(digits) : NaN;
    if (!isKnown || numbers[name] !== undefined || !(value >= least && value <= most)) {
      const hint = (!isKnown && didYouMean(name, names)) || '.';
      throw badHeader(header, `The header ${header} must be ${form}: ${quoted(part)} is not${hint}`);
    }
    numbers[name] = value;
  }
  return numbers;
}

export const badHeader = (param: string, text: string): GatewayError =>
  new GatewayError('bad_request', text, { param });

const quoted = (text: string): string => JSON.stringify(text.slice(0, QUOTE_MAX));
