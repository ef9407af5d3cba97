import { plain } from '../text/index.js';

/** A line for people, also of an error with several. */
export const oneLine = (text: string): string => `maitred: ${plain(text.trim().replaceAll(/\s*\n\s*/g, ' '))}\n`;

/** Writes to stderr: stdout is for results. */
export const complain = (text: string): void => void process.stderr.write(oneLine(text));

/** The replay of a log differs, as changes of the core's behaviour since its recording explain. */
export class ExpectedDifference extends Error {
  override readonly name = 'ExpectedDifference';
}
