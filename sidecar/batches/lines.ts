import type { FileHandle } from 'node:fs/promises';
import { fill, holds, ITEM, itemsOf, parseLine, type BatchLine } from '../../plans/index.js';
import type { Input } from './input.js';
import { readAt } from './line-file.js';
import type { Results } from './results.js';

/** The lines of a batch's file, as requests once the answers that they need are there. */
export class Lines {
  /** Items of each list so far, by the index of its first line. */
  readonly #sizes = new Map<number, number>();

  /** @param absent hears of lines whose list has no such item */
  constructor(
    private readonly handle: FileHandle,
    private readonly input: Input,
    private readonly results: Results,
    private readonly urls: ReadonlySet<string>,
    private readonly absent: (index: number) => void,
  ) {}

  close(): Promise<void> {
    return this.handle.close();
  }

  async at(index: number): Promise<BatchLine> {
    const { offsets, lengths } = this.input;
    const bytes = await readAt(this.handle, offsets[index] ?? 0, lengths[index] ?? 0);
    const line = parseLine(bytes.toString(), index, this.urls);
    if ('code' in line) throw new Error(`the input file has changed: ${line.message}`);
    return line;
  }

  /** Undefined: the line is left out, or its list has no such item. @throws MissingAnswer, BadItems */
  async bodyOf(index: number, line: BatchLine): Promise<Buffer | undefined> {
    const { after, body, needs, each, condition } = line;
    if (needs.length === 0) return Buffer.from(JSON.stringify(body));
    const answers = await this.#answersFor(index, line);
    if (condition !== undefined && !holds(condition, answers.get(condition.$ref))) return undefined;
    if (each !== undefined) {
      const items = itemsOf(answers.get(each.$ref), each);
      this.#list(index, items.length);
      const item = this.input.items[index] ?? 0;
      if (item >= items.length) return undefined;
      answers.set(ITEM, items[item]);
    }
    return Buffer.from(JSON.stringify(fill(body, after, (id) => answers.get(id))));
  }

  /** Its custom_id. Where a list is not known yet, its first line stands for all, and the others have no name. */
  async nameOf(index: number): Promise<string | undefined> {
    const item = this.input.items[index] ?? -1;
    const isListed = this.#sizes.has(index - item);
    if (item > 0 && !isListed) return undefined;
    const { customId } = await this.at(index);
    return item >= 0 && isListed ? `${customId}[${item}]` : customId;
  }

  /** The answers that a line needs, by their names; those of a line with `each` together. */
  async #answersFor(index: number, { needs: names }: BatchLine): Promise<Map<string, unknown>> {
    const { needs, items } = this.input;
    const answers = new Map<string, unknown>();
    const all = needs[index] ?? [];
    let at = 0;
    for (const name of names) {
      const first = all[at++] ?? 0;
      if ((items[first] ?? -1) < 0) {
        answers.set(name, await this.results.answerOf(first));
        continue;
      }
      const list: unknown[] = [];
      for (
        let need: number | undefined = first;
        need !== undefined;
        need = (items[all[at] ?? -1] ?? 0) > 0 ? all[at++] : undefined
      )
        // prettier-ignore
        if (this.results.stateOf(need) === 'completed') list.push(await this.results.answerOf(need));
      answers.set(
        name,
        list.filter((answer) => answer !== null),
      );
    }
    return answers;
  }

  /** The list of a line with `each` has so many items: its other lines are absent. */
  #list(index: number, size: number): void {
    const { items, offsets } = this.input;
    const first = index - (items[index] ?? 0);
    if (this.#sizes.has(first)) return;
    this.#sizes.set(first, size);
    for (let at = first; offsets[at] === offsets[first]; at++)
      if (at - first < size) this.results.expect(at);
      else this.absent(at);
  }
}
