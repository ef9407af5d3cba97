import type { z } from 'zod';

/** What is wrong with a value, in our words, to stand behind its name. The input must be reported with the issue. */
export function issueText(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `must ${SIZES[issue.origin] ?? 'be'} ${issue.inclusive === false ? 'above' : 'at least'} ${issue.minimum}`;
    case 'too_big':
      return `must ${SIZES[issue.origin] ?? 'be'} at most ${issue.maximum}`;
    case 'invalid_union':
      return issue.input === undefined ? 'is missing' : unknownKind(issue);
    default:
      return issue.message;
  }
}

export const UNKNOWN_KEY = 'is not a known key';

function unknownKind(issue: z.core.$ZodIssueInvalidUnion): string {
  return 'options' in issue && Array.isArray(issue.options)
    ? `must be one of ${issue.options.join(', ')}`
    : 'is of no known kind';
}

const TYPES: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
  tuple: 'a pair of a share and a value',
};
const SIZES: Readonly<Record<string, string>> = { string: 'have a length of', array: 'have a length of' };
