import { DAY_MS, STARTING, count, ms, note } from './note.js';

/** What a call may meet with on engines before it is answered with an error. */

export const enginesFailedMax = count(1, 100)
  .default(2)
  .meta(note('Engines that may fail a call before it is answered with the error of the last one.', STARTING));

export const noEngineMs = ms(0, DAY_MS)
  .default(30_000)
  .meta(note('In the queue while no engine that could run the call is up.', 'a short restart of an engine'));

export const busyMs = ms(0, DAY_MS)
  .default(60_000)
  .meta(note('For engines to find room (429, 503) before a call is answered with what the last one said.', STARTING));
