import { isUtf8 } from 'node:buffer';
import { setImmediate as turn } from 'node:timers/promises';
import {
  outlineOf,
  parseLine,
  planOf,
  problem,
  PROBLEMS_MAX,
  type BatchLine,
  type Outline,
  type Pass,
  type Plan,
  type Problem,
} from '../../plans/index.js';
import { readLines, type FileLine } from './line-file.js';

/** Longest work in one go. */
const SLICE_MS = 10;

export interface InputLimits {
  readonly linesMax: number;
  readonly lineBytes: number;
  /** Passes of the plan; absent: all. */
  readonly passes?: readonly Pass[];
}

/** The plan of a file, and the place of each line in it. */
export interface Input extends Plan {
  readonly offsets: Float64Array;
  readonly lengths: Float64Array;
  /** Tokens of each line's prompt and answer, by estimate. */
  readonly promptTokens: Float64Array;
  readonly outputTokens: Float64Array;
}

/** Lines of a file, checked one by one, and the place of each in it. */
export interface Outlines {
  readonly outlines: readonly Outline[];
  readonly offsets: readonly number[];
  readonly lengths: readonly number[];
}

/** Reads and checks the lines of a file. It keeps none in memory. */
export async function readOutlines(
  path: string,
  urls: ReadonlySet<string>,
  { linesMax, lineBytes }: InputLimits,
): Promise<Outlines | readonly Problem[]> {
  const outlines: Outline[] = [];
  const offsets: number[] = [];
  const lengths: number[] = [];
  const problems: Problem[] = [];
  let calls = 0;
  for await (const lines of readLines(path, lineBytes))
    for (const line of lines) {
      if (problems.length >= PROBLEMS_MAX) return problems;
      if (isBlank(line)) continue;
      const read = line.length > lineBytes ? tooLong(line, lineBytes) : parsed(line, urls);
      if ('code' in read) {
        problems.push(read);
        continue;
      }
      const outline = outlineOf(read, line.number);
      outlines.push(outline);
      offsets.push(line.offset);
      lengths.push(line.length);
      if ((calls += outline.calls) > linesMax) return [tooMany(line, linesMax)];
    }
  if (problems.length > 0) return problems;
  if (outlines.length === 0) return [problem('empty_file', 'The file has no lines.', null)];
  return { outlines, offsets, lengths };
}

/** Reads, checks and plans a file. */
export async function readInput(
  path: string,
  urls: ReadonlySet<string>,
  limits: InputLimits,
): Promise<Input | readonly Problem[]> {
  const read = await readOutlines(path, urls, limits);
  if (!('outlines' in read)) return read;
  const { outlines, offsets, lengths } = read;
  const plan = await inSlices(planOf(outlines, limits.passes));
  if (!('order' in plan)) return plan;
  return {
    ...plan,
    offsets: new Float64Array(offsets),
    lengths: new Float64Array(lengths),
    promptTokens: Float64Array.from(outlines, ({ promptTokens }) => promptTokens),
    outputTokens: Float64Array.from(outlines, ({ outputTokens }) => outputTokens),
  };
}

const isBlank = ({ length, head }: FileLine): boolean =>
  length === 0 || (length < 100 && head.toString().trim() === '');

const tooMany = ({ number }: FileLine, max: number): Problem =>
  problem('too_many_lines', `A batch may have at most ${max} lines; one with "each" counts its max.`, number);

const tooLong = ({ number, length }: FileLine, max: number): Problem =>
  problem('line_too_long', `The line has ${length} bytes; at most ${max} are read.`, number);

function parsed({ number, head }: FileLine, urls: ReadonlySet<string>): BatchLine | Problem {
  if (!isUtf8(head)) return problem('invalid_json_line', 'The line is not UTF-8.', number);
  return parseLine(head.toString(), number, urls);
}

/** The result of steps, with pauses for other work. */
export async function inSlices<T>(steps: Generator<void, T>): Promise<T> {
  for (let until = performance.now() + SLICE_MS; ;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() < until) continue;
    await turn();
    until = performance.now() + SLICE_MS;
  }
}
