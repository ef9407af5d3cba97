import { existsSync } from 'node:fs';
import { problem, type Problem } from '../../plans/index.js';
import { parseObject } from '../apis/fields.js';
import { refusalOf } from '../calls/refusal.js';
import { fileFault } from '../config/index.js';
import { LineFile, NOWHERE, readAt, readLines, type Disk, type Place } from './line-file.js';
import { tokensOf, usageOf } from './usage.js';

/** Longest result that is read for its words and tokens. */
const HEAD_BYTES = 33_554_432;
/** Results whose words are read again at a start. */
const READ_MAX = 100;
/** Far more than the id of a result. */
const ID_BYTES = 200;
const BEGINNING = '{"id":"batch_req_';
const ID = /^\{"id":"batch_req_([0-9a-f]+)_(\d+)(?:_(\d+)_(\d+))?"/;

const STATES = ['pending', 'completed', 'failed'] as const;
export type LineState = (typeof STATES)[number];

/** A call of a batch: its line, and which item of a list of how many; of 0: the whole line. */
export interface Task {
  readonly index: number;
  readonly item: number;
  readonly of: number;
}

/** The end of a call, in OpenAI's form. Its error is one of ours. */
export interface End {
  readonly state: 'completed' | 'failed';
  readonly response: { readonly status_code: number; readonly request_id: string; readonly body: unknown } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Failures to tell of a batch. */
const FAILURES_MAX = 3;
/** The batch ended before such a call. As in OpenAI's batches, it counts neither as completed nor as failed. */
const UNANSWERED = new Set(['batch_cancelled', 'batch_expired']);
/** Failures that follow from something else. */
const CONSEQUENCES = new Set(['dependency_failed', ...UNANSWERED]);

/** The calls of a line with `each` whose list is known. */
interface List {
  readonly places: (Place | undefined)[];
  left: number;
  hasFailed: boolean;
}

type Lines = readonly { readonly line: number }[];
export type Paths = Readonly<Record<'output' | 'errors', string>>;

/** In the ids of results: a name of the batch, or one of each line, whose result then is that of the same line anywhere. */
export type Names = string | readonly string[];
type Find = (name: string, index: number) => number | undefined;

/** The name in the id of a result; undefined: it is none. */
export const nameIn = (head: Buffer): string | undefined => ID.exec(head.toString('latin1'))?.[1];

export const wholeLine = (index: number): Task => ({ index, item: 0, of: 0 });

/** The output and error files of a batch, and its journal: the id of a line says which call it answers, so that none is answered twice. */
export class Results {
  readonly counts = { total: 0, completed: 0, failed: 0 };
  /** The first to fail by themselves, by their lines. */
  readonly failures: Problem[] = [];
  readonly #places: (Place | undefined)[];
  readonly #states: Uint8Array;
  readonly #lists = new Map<number, List>();
  /** Lines of the files that are no whole answers: they stay as they are, and calls that lack one are asked. */
  readonly broken: string[] = [];
  /** Completed calls that were not asked, as their condition did not hold. */
  leftOut = 0;
  /** Lines of the batch without an end. */
  pending: number;
  #tokens: readonly number[] = [];
  #keeping: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly names: Names,
    private readonly lines: Lines,
    private readonly files: { readonly completed: LineFile; readonly failed: LineFile },
  ) {
    const { length } = lines;
    this.counts.total = this.pending = length;
    this.#places = Array.from({ length });
    this.#states = new Uint8Array(length);
  }

  /** Opens the files, and takes over what they hold. @param lines with their numbers in their file @throws ConfigError if they hold something else */
  static async open(names: Names, lines: Lines, paths: Paths, disk: Disk): Promise<Results> {
    const indexes = typeof names === 'string' ? undefined : new Map(names.map((name, index) => [name, index]));
    const find: Find = (name, index) => (name === names ? index : indexes?.get(name));
    const found = { completed: await resultsIn(paths.output, find), failed: await resultsIn(paths.errors, find) };
    const results = new Results(names, lines, {
      completed: await LineFile.open(paths.output, found.completed.size, disk),
      failed: await LineFile.open(paths.errors, found.failed.size, disk),
    });
    for (const state of ['completed', 'failed'] as const)
      for (const { task, place, code, tokens } of found[state].results)
        if (task.index < lines.length && !results.#has(task)) results.#note(task, state, place, tokens, code);
    results.broken.push(...found.completed.broken, ...found.failed.broken);
    for (const { task, end } of found.failed.results) results.#noteFailure(task, end);
    return results;
  }

  idOf({ index, item, of }: Task): string {
    const { names } = this;
    return `batch_req_${typeof names === 'string' ? names : names[index]}_${index}${of === 0 ? '' : `_${item}_${of}`}`;
  }

  stateOf(index: number): LineState {
    return STATES[this.#states[index] ?? 0] ?? 'pending';
  }

  /** The line with `each` has so many calls. @returns those without a result; it ends at once if it has none at all */
  expand(index: number, of: number): Task[] {
    const { places } = this.#listOf(index, of);
    if (of === 0) this.#end(index, 'completed');
    return places.flatMap((place, item) => (place === undefined ? { index, item, of } : []));
  }

  /** Number of a pending line's calls that have no result. */
  leftOf(index: number): number {
    return this.#lists.get(index)?.left ?? 1;
  }

  /** Calls of a pending line that have no result: the whole line unless its list is known. */
  missing(index: number): Task[] {
    const list = this.#lists.get(index);
    return list === undefined ? [wholeLine(index)] : this.expand(index, list.places.length);
  }

  /** Of all answers, copies of others' included. */
  get usage() {
    return usageOf(this.#tokens);
  }

  get bytes() {
    return { output: this.files.completed.bytes, errors: this.files.failed.bytes };
  }

  /** Keeps the result of a call, one after the other, unless it has one. @returns whether its line ended with it */
  keep(task: Task, customId: string, { state, response, error }: End): Promise<boolean> {
    const kept = this.#keeping.then(async () => {
      if (this.#has(task)) return false;
      if (state === 'failed') this.#noteFailure(task, { response, error });
      const line = JSON.stringify({ id: this.idOf(task), custom_id: customId, response, error });
      return this.#note(task, state, await this.files[state].append(line), tokensOf(response?.body), error?.code);
    });
    this.#keeping = kept.catch(() => undefined);
    return kept;
  }

  /** The body of a line's answer, or a list of those of its calls; null: a condition left it out. */
  async answerOf(index: number): Promise<unknown> {
    const list = this.#lists.get(index);
    if (list === undefined) return this.#read(this.#places[index]);
    const answers: unknown[] = [];
    for (const place of list.places) answers.push(await this.#read(place));
    return answers;
  }

  async close(): Promise<void> {
    await this.#keeping;
    await Promise.all([this.files.completed.handle.close(), this.files.failed.handle.close()]);
  }

  async #read(place = NOWHERE): Promise<unknown> {
    const bytes = await readAt(this.files.completed.handle, place);
    return (JSON.parse(bytes.toString()) as Pick<End, 'response'>).response?.body ?? null;
  }

  #has({ index, item }: Task): boolean {
    return this.stateOf(index) !== 'pending' || this.#lists.get(index)?.places[item] !== undefined;
  }

  #listOf(index: number, of: number): List {
    const known = this.#lists.get(index);
    if (known !== undefined) return known;
    const list = { places: Array.from({ length: of }, () => undefined), left: of, hasFailed: false };
    this.#lists.set(index, list);
    this.counts.total += of - 1;
    return list;
  }

  #noteFailure({ index }: Task, end: Pick<End, 'response' | 'error'> | undefined): void {
    const line = this.lines[index]?.line ?? 0;
    const isLater = line > (this.failures[FAILURES_MAX - 1]?.line ?? Infinity);
    if (end === undefined || isLater || CONSEQUENCES.has(end.error?.code ?? '')) return;
    const { status_code: status = 0, body = '' } = end.response ?? {};
    const words = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const { detail, message: text } = refusalOf(status, words, { isTold: true });
    const { code, message } = end.error ?? { code: detail.names?.code ?? `status_${status}`, message: text };
    this.failures.push(problem(code, message, line));
    this.failures.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)).splice(FAILURES_MAX);
  }

  /** @returns whether the line has ended with it */
  #note({ index, item, of }: Task, state: End['state'], place: Place, tokens: readonly number[], code = ''): boolean {
    this.#tokens = tokens.map((count, at) => count + (this.#tokens[at] ?? 0));
    if (!UNANSWERED.has(code)) this.counts[state] += 1;
    if (code === 'condition_not_met') this.leftOut += 1;
    if (of === 0) {
      this.#places[index] = place;
      this.#end(index, state);
      return true;
    }
    const list = this.#listOf(index, of);
    list.places[item] = place;
    list.left -= 1;
    list.hasFailed ||= state === 'failed';
    if (list.left === 0) this.#end(index, list.hasFailed ? 'failed' : 'completed');
    return list.left === 0;
  }

  #end(index: number, state: LineState): void {
    this.#states[index] = STATES.indexOf(state);
    this.pending -= 1;
  }
}

/**
 * The answers in a file of results, where its last whole line ends, and lines that some other program wrote there.
 * @throws ConfigError if its lines are of another batch, which must not be lost
 */
async function resultsIn(path: string, find: Find) {
  const results: {
    readonly task: Task;
    readonly place: Place;
    readonly code: string | undefined;
    readonly tokens: readonly number[];
    readonly end: End | undefined;
  }[] = [];
  const broken: string[] = [];
  let size = 0;
  let isOther = false;
  if (!existsSync(path)) return { results, size, broken };
  for await (const found of readLines(path, HEAD_BYTES))
    for (const { number, head, offset, length, isEnded } of found) {
      const text = head.toString('latin1', 0, ID_BYTES);
      const [, name, at, item = '0', of = '0'] = ID.exec(text) ?? [];
      const index = name === undefined ? undefined : find(name, Number(at));
      const mayBegin = name === undefined && BEGINNING.startsWith(text.slice(0, BEGINNING.length));
      isOther ||= index === undefined && (name !== undefined || (!isEnded && !mayBegin && results.length === 0));
      // A last line may have been cut short.
      if (!isEnded) continue;
      size = offset + length + 1;
      const end = length > HEAD_BYTES ? undefined : (parseObject(head.toString()) as End | undefined);
      if (index === undefined || (end === undefined && length <= HEAD_BYTES))
        broken.push(`${path}:${number}: is no whole answer and stays there; calls that lack one are asked`);
      else {
        const task = { index, item: Number(item), of: Number(of) };
        const words = results.length < READ_MAX ? end : undefined;
        const tokens = tokensOf(end?.response?.body);
        results.push({ task, place: { offset, length }, code: end?.error?.code, tokens, end: words });
      }
    }
  if (isOther || (broken.length > 0 && results.length === 0))
    throw fileFault(
      path,
      'holds no answers of this batch as it is now: keep it, and name another file for the answers',
    );
  return { results, size, broken };
}
