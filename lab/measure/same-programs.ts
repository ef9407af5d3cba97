import { ProgramGroup } from './groups.js';
import type { RunMeasures } from './run.js';

/**
 * Restricts two runs of the same programs to the programs that both completed: program times, times a token and
 * slowdowns. Otherwise a run could look better by losing work. Runs that lost none, or that are too large to match
 * programs, are returned unchanged.
 */
export function overSamePrograms<R extends RunMeasures>(first: R, other: R): readonly [R, R] {
  const [one, two] = [first.completions, other.completions];
  if (one === undefined || two === undefined || (first.failed === 0 && other.failed === 0)) return [first, other];
  const both = [...one.keys()].filter((program) => two.has(program));
  return [restricted(first, one, both), restricted(other, two, both)];
}

function restricted<R extends RunMeasures>(
  run: R,
  completions: NonNullable<RunMeasures['completions']>,
  programs: readonly string[],
): R {
  const group = new ProgramGroup(0);
  for (const program of programs) {
    const figures = completions.get(program);
    if (figures !== undefined) group.add(figures);
  }
  const { seconds_per_token, program_seconds, slowdown } = group.measures();
  return { ...run, seconds_per_token, program_seconds, slowdown };
}
