import type { EngineId } from '../../src/index.js';
import { FAILURES_OVER_MS } from '../engines/index.js';
import { Ratios } from './steps.js';
import type { TotalsView } from './totals.js';

/** Failures due among an engine's answers since the last one, at its share of failures: without any, it is mended. */
const FAILURES_DUE = 3;

/** Answers of an engine since its last failure, and whether they tell that it is mended. What it answered before its failures began tells nothing of that. */
export function recoveryOf(engine: EngineId, { steps, stepMs }: TotalsView) {
  const bad = steps.flatMap((step, at) => (step.failures.sumsOf(engine)[0] > 0 ? [at] : []));
  const first = bad.findLast((at, n) => stepMs * (at - (bad[n - 1] ?? -Infinity)) > FAILURES_OVER_MS);
  const [last = 0] = bad.slice(-1);
  const [answers = 0, ...later] = steps.slice(last).map((step) => step.answers.sumsOf(engine)[0]);
  const answered_since = later.reduce((sum, each) => sum + each, answers);
  const attempts = new Ratios();
  for (const step of steps.slice(first, last + 1)) attempts.add(engine, ...step.failures.sumsOf(engine));
  const [failed, sent] = attempts.sumsOf(engine);
  // Those until the last failure, of which some may have been sent before.
  const until = Math.max(failed, sent - answers);
  return { answered_since, mended: answered_since * failed >= FAILURES_DUE * until };
}
