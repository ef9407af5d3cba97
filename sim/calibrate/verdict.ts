import type { RelativeErrors } from './fit.js';

/**
 * Largest median error of unseen requests with which policies may be compared. An idle server gave 2 %, a busy one 14 %
 * (docs/TRUST.md).
 */
const ERROR_MAX = 0.1;

/** Whether a preset is good enough to compare policies. @param unseen errors on requests held out from the fit */
export const isGood = ({ median }: RelativeErrors): boolean => median <= ERROR_MAX;

/** The same in words, with the remedy. */
export function verdictOf(unseen: RelativeErrors): string {
  const { median, worst } = unseen;
  const error = `predictions for unseen requests are off by ${percent(median)} in the median, ${percent(worst)} at worst`;
  return isGood(unseen)
    ? `Good enough to compare policies: ${error}.`
    : `Not good enough to compare policies: ${error}.
Measure again on an idle server. If that does not help, start from a preset closer to your model, and set --slots and
--batch-tokens to the limits of the server.`;
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
