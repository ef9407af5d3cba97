import { textOf, valueAt } from './references.js';

/** A test of an answer, without which a line is left out. */
export interface Condition {
  readonly $ref: string;
  /** Place of the tested value; absent: the whole text. */
  readonly path?: string;
  readonly equals?: string | number | boolean | null;
  readonly contains?: string;
  /** Whether the test has to fail. */
  readonly not?: boolean;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  $ref: isText,
  path: isText,
  equals: (value) => value === null || typeof value !== 'object',
  contains: isText,
  not: (value) => typeof value === 'boolean',
};

/** The condition that `if` states; a text: why it is wrong. */
export function conditionOf(value: unknown): Condition | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be a JSON object';
  const wrong = Object.entries(value).find(([name, each]) => FIELDS[name]?.(each) !== true);
  if (wrong !== undefined) return `has a wrong ${JSON.stringify(wrong[0].slice(0, 100))}`;
  if (!('$ref' in value)) return 'needs a $ref';
  if ('equals' in value === 'contains' in value) return 'needs either equals or contains';
  return value as Condition;
}

/**
 * Whether the answer passes. Texts are compared without the space around them.
 * @throws MissingAnswer
 */
export function holds({ $ref, path, equals, contains, not = false }: Condition, answer: unknown): boolean {
  const value = textOf(path === undefined ? answer : valueAt(answer, { $ref, path }));
  return (contains === undefined ? value.trim() === String(equals) : value.includes(contains)) !== not;
}
