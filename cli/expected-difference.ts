/** The replay of a log differs, as changes of the core's behaviour since its recording explain. */
export class ExpectedDifference extends Error {
  override readonly name = 'ExpectedDifference';
}
