import type { ProgramId, RetentionPolicy } from '../../src/index.js';

/** Steps after which any policy lets go. */
const STEPS_MAX = 64;
/** Class of a context that does not return. */
const NEVER = 0;

/** Clairvoyant retention, after Belady: holds the contexts whose threads call again, and no others. */
export function belady(returns: (program: ProgramId, thread: string) => boolean): RetentionPolicy {
  return {
    name: 'belady',
    classOf: ({ program, thread }) => (returns(program.id, thread) ? 1 : NEVER),
    share: (kind, age) => (kind !== NEVER && age < STEPS_MAX ? 1 : 0),
    learn: () => undefined,
  };
}
