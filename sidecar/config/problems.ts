import type { z } from 'zod';
import { CONFIG_KEYS } from './keys.js';
import { didYouMean } from './similar.js';

/** One problem in the configuration. */
export interface ConfigProblem {
  /** Path of the key to change, such as `engines[0].url`; '' if the problem is not in a single key. */
  readonly path: string;
  readonly message: string;
  /** Origin of the value: `FILE:LINE`, a variable or a flag. Absent: the value is a default. */
  readonly origin?: string | undefined;
}

/** An invalid configuration, with all problems found. Messages never contain a key's value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(readonly problems: readonly ConfigProblem[]) {
    super(problems.map(problemText).join('\n'));
  }
}

/** One line: `maitred.yaml:3: listen.port: must be at most 65535`. A flag or a variable stands for its key. */
export function problemText({ path, message, origin }: ConfigProblem): string {
  const isNamed = origin !== undefined && /^(?:--|MAITRED_)[\w-]+$/.test(origin) && !path.includes('[');
  return [origin, isNamed ? '' : path, message].filter((part) => part !== undefined && part !== '').join(': ');
}

export type Path = readonly (string | number)[];

export function pathText(path: Path): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

/** Successors of keys that have left. */
const REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  ['kubernetes', '; use dns with the name of a headless Service (docs/OPERATIONS.md#kubernetes)'],
  ['rewritten', ': leave it out, as answers are always looked for'],
]);

/**
 * The schema's issues in our words, each with the key's path.
 * @param keysAt names allowed directly under a path; none: they are not listed
 */
export function problemsOf(
  issues: readonly z.core.$ZodIssue[],
  keysAt: (path: Path) => readonly string[] = keysUnder,
): { readonly path: Path; readonly message: string }[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
    if (issue.code !== 'unrecognized_keys') return [{ path, message: messageOf(issue) }];
    const known = keysAt(path);
    const list = known.length > 0 ? `; known here: ${known.join(', ')}` : '';
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: `is not a known key${REPLACEMENTS.get(key) ?? (didYouMean(key, known) || list)}`,
    }));
  });
}

function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type')
    return issue.input === undefined ? 'is missing' : `must be ${TYPES[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value') {
    const words = issue.values.map(String);
    return `must be ${words.length === 1 ? '' : 'one of '}${words.join(', ')}${typeof issue.input === 'string' ? didYouMean(issue.input, words) : ''}`;
  }
  // A schema's own words begin as ours do; the library's do not.
  if (issue.message.startsWith('must ')) return issue.message;
  if (issue.code === 'too_small')
    return `must ${SIZES[issue.origin] ?? 'be'} ${issue.inclusive === false ? 'above' : 'at least'} ${issue.minimum}`;
  if (issue.code === 'too_big')
    return `must ${SIZES[issue.origin] ?? 'be'} ${issue.inclusive === false ? 'below' : 'at most'} ${issue.maximum}`;
  if (issue.code === 'invalid_union' && issue.discriminator !== undefined) return 'is not one of the known kinds';
  return issue.message;
}

const TYPES: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  object: 'a mapping',
  array: 'a list',
};
const SIZES: Readonly<Record<string, string>> = { string: 'have a length of', array: 'have a length of' };

/** Names allowed directly under `path`. */
function keysUnder(path: Path): string[] {
  const parent = path.map((part) => (typeof part === 'number' ? '[]' : part));
  const under = CONFIG_KEYS.filter(({ segments }) => parent.every((part, index) => segments[index] === part));
  return [...new Set(under.map(({ segments }) => segments[parent.length] ?? ''))];
}
