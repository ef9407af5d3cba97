import { stat } from 'node:fs/promises';
import { LineFile, readAt, readLines, type Disk } from './line-file.js';

/** Bytes of a line in which its id stands. */
const HEAD_BYTES = 200;
const ID = /^\{"id":"batch_req_[0-9a-f]+_(\d+)(?:_(\d+))?"/;

const STATES = ['pending', 'completed', 'failed'] as const;
export type LineState = (typeof STATES)[number];

/** A call of a batch: its line, and which item of the list of a line with `each`; -1: the whole line. */
export interface Task {
  readonly index: number;
  readonly item: number;
}

/** The end of a call, in OpenAI's form. Its error is one of ours. */
export interface End {
  readonly state: 'completed' | 'failed';
  readonly response: { readonly status_code: number; readonly request_id: string; readonly body: unknown } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Where a result is in its file. */
interface Place {
  readonly offset: number;
  readonly length: number;
}

/** The calls of a line with `each`. */
interface List {
  /** Undefined: the list is not known yet, so the line counts as one, or as its results of an earlier process. */
  size: number | undefined;
  hasFailed: boolean;
  readonly places: Map<number, Place>;
}

/**
 * The output and error files of a batch. They are its journal too: a line of them says by its id which call of the batch
 * it answers, so that no call is answered twice.
 */
export class Results {
  readonly counts = { total: 0, completed: 0, failed: 0 };
  readonly #places: (Place | undefined)[];
  readonly #states: Uint8Array;
  readonly #lists = new Map<number, List>();
  /** Lines of the batch without an end. */
  pending: number;
  /** Calls whose results are being written. */
  readonly #claimed = new Set<string>();

  private constructor(
    private readonly name: string,
    lines: number,
    private readonly files: { output: LineFile; errors: LineFile },
  ) {
    this.counts.total = this.pending = lines;
    this.#places = Array.from({ length: lines });
    this.#states = new Uint8Array(lines);
  }

  /** Opens the files, and takes over what they hold. @param lines lines of the batch */
  static async open(
    name: string,
    lines: number,
    paths: { readonly output: string; readonly errors: string },
    disk: Disk,
  ): Promise<Results> {
    const found = { output: await resultsIn(paths.output), errors: await resultsIn(paths.errors) };
    const output = await LineFile.open(paths.output, found.output.size, disk);
    const errors = await LineFile.open(paths.errors, found.errors.size, disk);
    const results = new Results(name, lines, { output, errors });
    for (const { task, place } of found.output.results) results.#note(task, 'completed', place);
    for (const { task, place } of found.errors.results) results.#note(task, 'failed', place);
    return results;
  }

  idOf({ index, item }: Task): string {
    return `batch_req_${this.name}_${index}${item < 0 ? '' : `_${item}`}`;
  }

  stateOf(index: number): LineState {
    return STATES[this.#states[index] ?? 0] ?? 'pending';
  }

  /** The line with `each` has so many calls. It ends at once if all have results. */
  expand(index: number, size: number): void {
    const list = this.#listOf(index);
    if (list.size !== undefined) return;
    this.counts.total += size - Math.max(1, list.places.size);
    list.size = size;
    this.#endList(index, list);
  }

  /** Number of a pending line's calls that have no result. */
  leftOf(index: number): number {
    const { size, places } = this.#lists.get(index) ?? {};
    return size === undefined ? 1 : size - (places?.size ?? 0);
  }

  /** These calls: the whole line unless its list is known. */
  missing(index: number): Task[] {
    const { size, places } = this.#lists.get(index) ?? {};
    if (size === undefined) return [{ index, item: -1 }];
    return Array.from({ length: size }, (_, item) => ({ index, item })).filter(({ item }) => !places?.has(item));
  }

  get bytes(): { readonly output: number; readonly errors: number } {
    return { output: this.files.output.bytes, errors: this.files.errors.bytes };
  }

  /** Keeps the result of a call, unless it has one. @returns whether its line ended with it */
  async keep(task: Task, customId: string, { state, response, error }: End): Promise<boolean> {
    const id = this.idOf(task);
    if (this.#has(task) || this.#claimed.has(id)) return false;
    this.#claimed.add(id);
    const line = JSON.stringify({ id, custom_id: customId, response, error });
    const file = state === 'completed' ? this.files.output : this.files.errors;
    try {
      const offset = await file.append(line);
      return this.#note(task, state, { offset, length: Buffer.byteLength(line) });
    } finally {
      this.#claimed.delete(id);
    }
  }

  /** The body of a line's answer, or a list of those of its calls; null: a condition left it out. */
  async answerOf(index: number): Promise<unknown> {
    const { size, places } = this.#lists.get(index) ?? {};
    if (size === undefined || places === undefined) return this.#read(this.#places[index]);
    const answers: unknown[] = [];
    for (let item = 0; item < size; item++) answers.push(await this.#read(places.get(item)));
    return answers;
  }

  async close(): Promise<void> {
    await Promise.all([this.files.output.close(), this.files.errors.close()]);
  }

  async #read({ offset, length }: Place = { offset: 0, length: 0 }): Promise<unknown> {
    const bytes = await readAt(this.files.output.handle, offset, length);
    return (JSON.parse(bytes.toString()) as Pick<End, 'response'>).response?.body ?? null;
  }

  #has({ index, item }: Task): boolean {
    return this.stateOf(index) !== 'pending' || this.#lists.get(index)?.places.has(item) === true;
  }

  #listOf(index: number): List {
    const list = this.#lists.get(index) ?? { size: undefined, hasFailed: false, places: new Map<number, Place>() };
    this.#lists.set(index, list);
    return list;
  }

  /** @returns whether the line has ended with it */
  #note(task: Task, state: 'completed' | 'failed', place: Place): boolean {
    const { index, item } = task;
    if (index >= this.#states.length || this.#has(task)) return false;
    this.counts[state] += 1;
    if (item < 0) {
      this.#places[index] = place;
      if ((this.#lists.get(index)?.places.size ?? 0) > 0) this.counts.total += 1;
      this.#end(index, state);
      return true;
    }
    const list = this.#listOf(index);
    list.places.set(item, place);
    list.hasFailed ||= state === 'failed';
    if (list.size === undefined && list.places.size > 1) this.counts.total += 1;
    return this.#endList(index, list);
  }

  #endList(index: number, { size, places, hasFailed }: List): boolean {
    if (size === undefined || places.size < size) return false;
    this.#end(index, hasFailed ? 'failed' : 'completed');
    return true;
  }

  #end(index: number, state: LineState): void {
    this.#states[index] = STATES.indexOf(state);
    this.pending -= 1;
  }
}

/** The whole lines of a file of results, and where they end. A file that is not there has none. */
async function resultsIn(path: string) {
  const results: { readonly task: Task; readonly place: Place }[] = [];
  let size = 0;
  if ((await stat(path).catch(() => undefined)) === undefined) return { results, size };
  for await (const found of readLines(path, HEAD_BYTES))
    for (const { head, offset, length, isEnded } of found) {
      const [, index, item = '-1'] = ID.exec(head.toString('latin1')) ?? [];
      if (!isEnded || index === undefined) return { results, size };
      results.push({ task: { index: Number(index), item: Number(item) }, place: { offset, length } });
      size = offset + length + 1;
    }
  return { results, size };
}
