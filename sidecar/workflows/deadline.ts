import { z } from 'zod';
import { millis, type Millis } from '../../src/index.js';
import { DAY_MS } from '../config/index.js';
import { GatewayError } from '../errors.js';

const AHEAD_MS_MAX = 30 * DAY_MS;
const FORM = `seconds from now, 0 to ${AHEAD_MS_MAX / 1000}, or a time of RFC 3339 at most as far ahead`;
const HEADER = 'x-maitred-deadline';

export const secondsAhead = z
  .number()
  .min(0)
  .max(AHEAD_MS_MAX / 1000);

/** When a program is to be done: seconds from now, or a time of day such as `2026-11-22T18:00:00Z`. */
export const deadlineSchema = z.union(
  [secondsAhead, z.iso.datetime({ offset: true }).refine((text) => Date.parse(text) - Date.now() <= AHEAD_MS_MAX)],
  { error: `must be ${FORM}` },
);

export type Deadline = z.output<typeof deadlineSchema>;

/** The same as a header. @throws GatewayError `bad_request` */
export function readDeadlineHeader(text: string): Deadline {
  const { data } = deadlineSchema.safeParse(/^\d{1,10}(?:\.\d{1,9})?$/.test(text) ? Number(text) : text);
  if (data === undefined)
    throw new GatewayError('bad_request', `The header ${HEADER} must be ${FORM}.`, { param: HEADER });
  return data;
}

/**
 * The deadline that a call gives its program: its own, or else that of its workflow, which counts from the program's
 * first call and changes no deadline that the program has.
 * @param program undefined: the call is its first
 */
export function deadlineOf(
  deadline: Deadline | undefined,
  dueAfterMs: number | undefined,
  program: { readonly createdAtMs: number; readonly deadlineAtMs: number | undefined } | undefined,
  now: Millis,
): Millis | undefined {
  if (deadline !== undefined) return deadlineAtMs(deadline, now);
  if (dueAfterMs === undefined || program?.deadlineAtMs !== undefined) return undefined;
  return millis((program?.createdAtMs ?? now) + dueAfterMs);
}

/** The deadline on the scheduler's clock. */
export function deadlineAtMs(deadline: Deadline, now: Millis): Millis {
  return millis(now + (typeof deadline === 'number' ? 1000 * deadline : Date.parse(deadline) - Date.now()));
}
