import { stat } from 'node:fs/promises';
import { LineFile, readAt, readLines, type Disk } from './line-file.js';

/** Bytes of a line in which its index stands. */
const HEAD_BYTES = 200;
const INDEX = /^\{"id":"batch_req_\w+_(\d+)"/;

/** `absent`: the list of a line with `each` has no such item. */
const STATES = ['pending', 'completed', 'failed', 'absent'] as const;
export type LineState = (typeof STATES)[number];

/** The end of a line, in OpenAI's form. Its error is one of ours. */
export interface End {
  readonly state: 'completed' | 'failed';
  readonly response: { readonly status_code: number; readonly request_id: string; readonly body: unknown } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/**
 * The output and error files of a batch. They are its journal too: a line of them says by its id which line of the
 * batch it answers, so that no line is answered twice.
 */
export class Results {
  readonly counts = { total: 0, completed: 0, failed: 0 };
  /** Offsets and lengths of results in their files. */
  readonly #offsets: Float64Array;
  readonly #lengths: Float64Array;
  readonly #states: Uint8Array;
  /** Whether each line counts: an item's does once it is known to be there. */
  readonly #isCounted: Uint8Array;
  /** Lines without a result. */
  pending: number;
  /** Lines whose results are being written. */
  readonly #claimed = new Set<number>();

  private constructor(
    private readonly name: string,
    items: Int32Array,
    private readonly files: { output: LineFile; errors: LineFile },
  ) {
    const total = (this.pending = items.length);
    this.#isCounted = new Uint8Array(total);
    for (const [index, item] of items.entries()) if (item <= 0) this.expect(index);
    this.#offsets = new Float64Array(total);
    this.#lengths = new Float64Array(total);
    this.#states = new Uint8Array(total);
  }

  /** Opens the files, and takes over what they hold. @param items which item each line is of its list, if any */
  static async open(
    name: string,
    items: Int32Array,
    paths: { readonly output: string; readonly errors: string },
    disk: Disk,
  ): Promise<Results> {
    const found = { output: await linesOf(paths.output), errors: await linesOf(paths.errors) };
    const output = await LineFile.open(paths.output, found.output.size, disk);
    const errors = await LineFile.open(paths.errors, found.errors.size, disk);
    const results = new Results(name, items, { output, errors });
    for (const { index, offset, length } of found.output.lines) results.#note(index, 'completed', offset, length);
    for (const { index } of found.errors.lines) results.#note(index, 'failed', 0, 0);
    return results;
  }

  stateOf(index: number): LineState {
    return STATES[this.#states[index] ?? 0] ?? 'pending';
  }

  /** The line counts, if it did not. */
  expect(index: number): void {
    if (this.#isCounted[index] === 1) return;
    this.#isCounted[index] = 1;
    this.counts.total += 1;
  }

  /** There is no such item. */
  leaveOut(index: number): void {
    this.#end(index, 'absent');
    if (this.#isCounted[index] === 1) this.counts.total -= 1;
  }

  get bytes(): { readonly output: number; readonly errors: number } {
    return { output: this.files.output.bytes, errors: this.files.errors.bytes };
  }

  /** Keeps the result of a line. @returns false if it has one */
  async keep(index: number, customId: string, { state, response, error }: End): Promise<boolean> {
    if (this.stateOf(index) !== 'pending' || this.#claimed.has(index)) return false;
    this.#claimed.add(index);
    const line = JSON.stringify({ id: `batch_req_${this.name}_${index}`, custom_id: customId, response, error });
    const file = state === 'completed' ? this.files.output : this.files.errors;
    try {
      this.#note(index, state, await file.append(line), Buffer.byteLength(line));
    } finally {
      this.#claimed.delete(index);
    }
    return true;
  }

  /** The body of a line's answer; null: a condition left it out. */
  async answerOf(index: number): Promise<unknown> {
    const bytes = await readAt(this.files.output.handle, this.#offsets[index] ?? 0, this.#lengths[index] ?? 0);
    const { response } = JSON.parse(bytes.toString()) as Pick<End, 'response'>;
    return response?.body ?? null;
  }

  async close(): Promise<void> {
    await Promise.all([this.files.output.close(), this.files.errors.close()]);
  }

  #note(index: number, state: 'completed' | 'failed', offset: number, length: number): void {
    if (index >= this.#states.length || this.stateOf(index) !== 'pending') return;
    this.expect(index);
    this.counts[state] += 1;
    this.#offsets[index] = offset;
    this.#lengths[index] = length;
    this.#end(index, state);
  }

  #end(index: number, state: LineState): void {
    this.#states[index] = STATES.indexOf(state);
    this.pending -= 1;
  }
}

/** The whole lines of a file of results, and where they end. A file that is not there has none. */
async function linesOf(path: string) {
  const lines: { readonly index: number; readonly offset: number; readonly length: number }[] = [];
  let size = 0;
  if ((await stat(path).catch(() => undefined)) === undefined) return { lines, size };
  for await (const found of readLines(path, HEAD_BYTES))
    for (const { head, offset, length, isEnded } of found) {
      const index = INDEX.exec(head.toString('latin1'))?.[1];
      if (!isEnded || index === undefined) return { lines, size };
      lines.push({ index: Number(index), offset, length });
      size = offset + length + 1;
    }
  return { lines, size };
}
