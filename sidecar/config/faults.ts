import { defaults } from '../../src/index.js';
import { DAY_MS, STARTING, count, ms, note } from './note.js';

/** Limits of a call's trouble with engines, before the call is answered with an error. */

export const attemptsMax = count(1, 100)
  .default(defaults.limits.attemptsMax)
  .meta(note('Attempts of a call on engines that fail it.', STARTING));

export const enginesFailedMax = count(1, 100)
  .default(defaults.limits.enginesFailedMax)
  .meta(note('Engines that may fail a call before its client gets the last one’s error.', STARTING));

export const noEngineMs = ms(0, DAY_MS)
  .default(defaults.timeouts.noEngineMs)
  .meta(note('Longest wait in the queue while no engine for the call is up.', 'a short restart of an engine'));

export const busyMs = ms(0, DAY_MS)
  .default(60_000)
  .meta(note('Time for engines to find room (429, 503) before the client gets the next such answer.', STARTING));
