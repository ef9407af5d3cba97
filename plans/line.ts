/** A fault of a batch's file, in OpenAI's form. @param line from 1 */
export const problem = (code: string, message: string, line: number | null, param: string | null = null) => ({
  code,
  message,
  param,
  line,
});
export type Problem = Readonly<ReturnType<typeof problem>>;

/** A batch whose file has faults. */
export class FaultyBatch extends Error {
  override readonly name = 'FaultyBatch';

  constructor(readonly problems: readonly Problem[]) {
    super(problems[0]?.message);
  }
}

/** A line's answer, or the value at a path in it. */
export interface Source {
  readonly $ref: string;
  readonly path?: string | undefined;
}

/** The answer whose items a line is made of: a call for each, at most so many. */
export interface Each extends Source {
  readonly max: number;
}

/** A test of an answer, without which a line is left out. */
export interface Condition extends Source {
  readonly equals?: string | number | boolean | null | undefined;
  readonly contains?: string | undefined;
  /** Whether the test has to fail. */
  readonly not?: boolean | undefined;
}

/** A line of a batch's file, checked. */
export interface BatchLine {
  readonly customId: string;
  readonly url: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Lines whose texts `${id}` inserts; with `each` also the item. */
  readonly after: ReadonlySet<string>;
  readonly each: Each | undefined;
  readonly condition: Condition | undefined;
  /** All lines whose answers this one needs. */
  readonly needs: readonly string[];
}

/** Name of the item in the body of a line with `each`. */
export const ITEM = 'item';
