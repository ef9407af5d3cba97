import { ProgramGroup } from './groups.js';
import type { RunMeasures } from './run.js';

/**
 * Two runs of the same programs with their program times, times a token and slowdowns over those alone that both completed:
 * otherwise a run could look better by losing work. Where neither lost any, the runs as they are; so too where they are
 * too large to tell programs apart.
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
