import { setImmediate as turn } from 'node:timers/promises';
import {
  FaultyBatch,
  outlineOf,
  planOf,
  problem,
  PROBLEMS_MAX,
  type Outline,
  type Pass,
  type Plan,
  type Problem,
} from '../../plans/index.js';
import type { Config } from '../config/index.js';
import { readLines, type Place } from './line-file.js';
import { idIn, parseLine, strangeFile } from './lines.js';
import { Placeholders } from './placeholders.js';

/** Longest work in one go. */
const SLICE_MS = 10;
/** Longest line that may be blank. */
const BLANK_BYTES_MAX = 100;

export interface InputLimits extends Pick<Config['batches'], 'linesMax' | 'lineBytes'> {
  /** Passes of the plan; absent: all. */
  readonly passes?: readonly Pass[];
  /** Path that some line has to ask; absent: any will do. */
  readonly endpoint?: string;
}

/** The facts of each line that a run needs: its place, its number in the file from 1, its tokens by estimate. */
type InputLine = Place & Pick<Outline, 'line' | 'promptTokens' | 'outputTokens'>;

export interface Input extends Plan, Pick<Awaited<ReturnType<typeof readPlan>>, 'models' | 'warnings'> {
  readonly lines: readonly InputLine[];
}

/** Of a faulty line only the id counts. */
const FAULTY = { url: '', body: {}, after: new Set<string>(), needs: [], each: undefined, condition: undefined };

/** Reads, checks and plans the lines of a file. @returns with the first line of each model, and texts that may be mistaken @throws FaultyBatch */
export async function readPlan(path: string, { linesMax, lineBytes, passes, endpoint }: InputLimits) {
  const outlines: (Outline & Place)[] = [];
  const problems: Problem[] = [];
  const models = new Map<string, number>();
  const urls = new Map<string, number>();
  const placeholders = new Placeholders();
  let calls = 0;
  for await (const lines of readLines(path, lineBytes))
    for (const { number, offset, length, head } of lines) {
      if (length < BLANK_BYTES_MAX && head.toString().trim() === '') continue;
      const isLong = length > lineBytes;
      const line = isLong
        ? [
            problem(
              'line_too_long',
              `The line has ${length} bytes; at most ${lineBytes} are read (batches.lineBytes).`,
              number,
            ),
          ]
        : parseLine(head, number);
      if (!('customId' in line)) {
        // Another kind of file has a fault in nearly every line.
        const strange = models.size === 0 ? strangeFile(head, isLong) : undefined;
        if (strange !== undefined) throw new FaultyBatch([problem('invalid_file', strange, number)]);
        if (problems.push(...line) >= PROBLEMS_MAX) throw new FaultyBatch(problems.slice(0, PROBLEMS_MAX));
        const customId = idIn(head);
        if (customId !== undefined) outlines.push({ ...outlineOf({ ...FAULTY, customId }, number), offset, length });
        continue;
      }
      placeholders.look(head, line, number);
      const model = line.body['model'] as string;
      if (!models.has(model)) models.set(model, number);
      if (!urls.has(line.url)) urls.set(line.url, number);
      const outline = outlineOf(line, number);
      outlines.push({ ...outline, offset, length });
      if ((calls += outline.callsMax) > linesMax)
        throw new FaultyBatch([
          problem(
            'too_many_lines',
            `A batch may have at most ${linesMax} lines (batches.linesMax); one with "each" counts its max. Split the file.`,
            number,
          ),
        ]);
    }
  if (outlines.length + problems.length === 0) problems.push(problem('empty_file', 'The file has no lines.', null));
  const strange = endpoint === undefined ? [] : strangeUrls(urls, endpoint);
  if (!urls.has(endpoint ?? '')) problems.push(...strange);
  problems.push(...placeholders.faults(outlines).slice(0, PROBLEMS_MAX));
  const plan = await inSlices(planOf(outlines, passes, problems));
  return { outlines, plan, models, warnings: [...strange, ...(await inSlices(placeholders.warnings(outlines)))] };
}

/** The first line of each path that is not the batch's. */
const strangeUrls = (urls: ReadonlyMap<string, number>, endpoint: string): Problem[] =>
  [...urls]
    .filter(([url]) => url !== endpoint)
    .map(([url, line]) =>
      problem('other_endpoint', `The line asks ${url}; the batch's endpoint is ${endpoint}.`, line, 'url'),
    );

/** The plan with lines that lack what only it needs. @throws FaultyBatch */
export async function readInput(path: string, limits: InputLimits): Promise<Input> {
  const { outlines, plan, ...rest } = await readPlan(path, limits);
  const lines = outlines.map(({ line, offset, length, promptTokens, outputTokens }) => ({
    line,
    offset,
    length,
    promptTokens,
    outputTokens,
  }));
  return { ...plan, ...rest, lines };
}

/** The result of steps, with pauses for other work. */
async function inSlices<T>(steps: Generator<void, T>): Promise<T> {
  for (let until = performance.now() + SLICE_MS; ;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() < until) continue;
    await turn();
    until = performance.now() + SLICE_MS;
  }
}
