import type { z } from 'zod';
import { issueText, UNKNOWN_KEY } from '../issue-text.js';

/** One problem of a file of workloads. */
export interface WorkloadProblem {
  /** Path of the key to change: `workloads.mine.turns.p95`; '' when no single key is at fault. */
  readonly path: string;
  readonly message: string;
  /** `FILE:LINE`, or the file. */
  readonly origin: string;
}

/** A workload cannot be used; carries every problem found. */
export class WorkloadError extends Error {
  override readonly name = 'WorkloadError';
  constructor(readonly problems: readonly WorkloadProblem[]) {
    super(
      problems
        .map(({ origin, path, message }) => [origin, path, message].filter((part) => part !== '').join(': '))
        // Text quoted from a file must not break its line, nor control a terminal.
        .map((line) => line.replaceAll(/\p{Cc}+/gu, ' '))
        .join('\n'),
    );
  }
}

export type Path = readonly (string | number)[];

export interface Finding {
  readonly path: Path;
  readonly message: string;
}

export function pathText(path: Path): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

/** The schema's findings in our words. */
export function findingsOf(issues: readonly z.core.$ZodIssue[]): Finding[] {
  return issues.flatMap((issue): Finding[] => {
    const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ path: [...path, key], message: UNKNOWN_KEY }));
    if (issue.code === 'invalid_key') return [{ path, message: issue.issues[0]?.message ?? issue.message }];
    if (issue.code !== 'invalid_union') return [{ path, message: issueText(issue) }];
    if (issue.input === undefined || ('discriminator' in issue && typeof issue.discriminator === 'string'))
      return [{ path, message: issueText(issue) }];
    // A number or a distribution, whichever was meant.
    const meant = issue.errors.find(
      (each) => !each.some(({ code, path: at }) => code === 'invalid_type' && at.length === 0),
    );
    if (meant === undefined) return [{ path, message: 'must be a number or a distribution' }];
    return findingsOf(meant).map((finding) => ({ ...finding, path: [...path, ...finding.path] }));
  });
}
