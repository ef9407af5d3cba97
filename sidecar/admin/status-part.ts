import type { Ratios } from '../watch/steps.js';
import type { Engine, GatewayState, Queue, TotalsAnswer } from './answers.js';

export type Status = GatewayState['status'];
export type Part = Status['parts'][number];

/** The answers of which the status tells. */
export interface Seen extends Pick<GatewayState, 'batches' | 'cluster'> {
  readonly engines: readonly Engine[];
  readonly queue: Queue;
  readonly totals: TotalsAnswer;
  /** Waiting calls by cause in the last half minute. */
  readonly waits: Ratios;
}

/** A sentence of the status; one that is good has no title. */
export const part = (about: Part['about'], level: Part['level'], title: string, text: string, remedy = ''): Part => ({
  about,
  level,
  title: level === 'good' ? '' : title,
  text,
  ...(remedy && { remedy }),
});
