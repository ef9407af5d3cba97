/** A place in a trace: the line, or the item of the file's list; from 1, empty lines counted. */
export interface Place {
  readonly unit: 'line' | 'item';
  readonly number: number;
}

/**
 * - `unreadable`: the file cannot be read, or not further, as when an archive is cut short
 * - `too_long`, `not_utf8`, `not_json`: an unreadable record
 * - `bad_field`: a field is missing, of the wrong type, or out of range
 * - `empty`: a program without calls, or a file without records
 * - `duplicate`: a program that has the id of an earlier one
 * - `unknown_format`, `wrong_format`: no known format, or not the named one
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

/** A fault of a trace and its place. Without a place the whole file is at fault; without a field, the whole record. */
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
    // Text quoted from a file must not break its line, nor control a terminal.
    super(`${file}${where}${field && `, ${field}`}: ${problem}`.replaceAll(/\p{Cc}+/gu, ' '));
  }
}
