import type { z } from 'zod';

/** The fault of a value, phrased to follow its name. The input must be reported with the issue. */
export function issueText(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined && MISSING.has(issue.code)) return 'is missing';
  if (issue.code === 'invalid_type') return `must be ${TYPES[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value')
    return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
  if (issue.code === 'too_small')
    return `must ${SIZES[issue.origin] ?? 'be'} ${issue.inclusive === false ? 'above' : 'at least'} ${issue.minimum}`;
  if (issue.code === 'too_big') return `must ${SIZES[issue.origin] ?? 'be'} at most ${issue.maximum}`;
  return issue.code === 'invalid_union' ? 'is of no known kind' : issue.message;
}

/** Issues of a missing value. */
const MISSING: ReadonlySet<string | undefined> = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

const TYPES: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
};
const SIZES: Readonly<Record<string, string>> = { string: 'have a length of', array: 'have a length of' };
