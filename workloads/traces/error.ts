/** Where in a trace: the line, or the item of the list that the file is; from 1, empty lines counted. */
export interface Place {
  readonly unit: 'line' | 'item';
  readonly number: number;
}

/**
 * - `unreadable`: the file cannot be read, or not further, as when an archive is cut short
 * - `too_long`, `not_utf8`, `not_json`: a record that is none
 * - `bad_field`: a field is missing, of the wrong type, or out of range
 * - `empty`: a program without calls, or a file without records
 * - `duplicate`: a program that has the id of an earlier one
 * - `unknown_format`, `wrong_format`: of no format that is known, or not of the one that was named
 */
export type TraceErrorCode =
  | 'unreadable'
  | 'too_long'
  | 'not_utf8'
  | 'not_json'
  | 'bad_field'
  | 'empty'
  | 'duplicate'
  | 'unknown_format'
  | 'wrong_format';

/** What is wrong with a trace, and where: without a place it is the file, without a field the record as a whole. */
export class TraceError extends Error {
  override readonly name = 'TraceError';

  constructor(
    readonly code: TraceErrorCode,
    readonly file: string,
    readonly place: Place | undefined,
    readonly field: string,
    problem: string,
  ) {
    const where = place === undefined ? '' : `, ${place.unit} ${place.number}`;
    // What is quoted from a file must not break the line that tells of it, nor speak to a terminal.
    super(`${file}${where}${field && `, ${field}`}: ${problem}`.replaceAll(/\p{Cc}+/gu, ' '));
  }
}
