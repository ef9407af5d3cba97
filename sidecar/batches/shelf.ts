import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TenantId } from '../../src/index.js';
import { LineFile, readLines, type Disk } from './line-file.js';
import { isEnded, outputOf, type BatchObject, type FileObject, type Patch } from './objects.js';

/** Longest line of a journal: a batch with all its problems. */
const JOURNAL_LINE_BYTES = 1_048_576;

/**
 * The files and batches of one tenant, in a folder of its own:
 *
 *   file-NAME         content
 *   file-NAME.json    its object; written last, so that no other content counts
 *   batch_NAME.jsonl  journal of a batch: changes of its object, a line each
 *   *.part            an upload under way
 */
export class Shelf {
  readonly files = new Map<string, FileObject>();
  readonly batches = new Map<string, BatchObject>();
  /** Uploads under way. */
  readonly uploads = new Set<{ readonly bytes: number }>();
  /** Bytes of each journal. */
  readonly #journals = new Map<string, number>();
  #changing: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly tenant: TenantId,
    readonly folder: string,
    private readonly disk: Disk,
  ) {}

  /** The shelf as an earlier process left it, without leftovers. A new one if there is none. */
  static async open(tenant: TenantId, folder: string, disk: Disk): Promise<Shelf> {
    const shelf = new Shelf(tenant, folder, disk);
    await mkdir(folder, { recursive: true });
    const names = await readdir(folder);
    for (const name of names) if (name.endsWith('.jsonl')) await shelf.#readJournal(name);
    for (const name of names)
      if (/^file-.*\.json$/.test(name)) {
        const file = JSON.parse(await readFile(join(folder, name), 'utf8')) as FileObject;
        shelf.files.set(file.id, file);
      }
    const used = new Set([...shelf.batches.values()].filter((each) => !isEnded(each)).flatMap((each) => Object.values(outputOf(each)))); // prettier-ignore
    for (const name of names) {
      const isLeft = name.endsWith('.part') || (/^file-\w+$/.test(name) && !shelf.files.has(name) && !used.has(name));
      if (isLeft) await rm(join(folder, name), { force: true });
    }
    const byAge = [...shelf.batches.values()].sort((a, b) => a.created_at - b.created_at);
    shelf.batches.clear();
    for (const batch of byAge) shelf.batches.set(batch.id, batch);
    return shelf;
  }

  /** Bytes of all files, those under way included. */
  get bytes(): number {
    let bytes = 0;
    for (const file of [...this.files.values(), ...this.uploads]) bytes += file.bytes;
    return bytes;
  }

  pathOf(name: string): string {
    return join(this.folder, name);
  }

  /** Adds a file whose content is there. */
  async addFile(file: FileObject): Promise<void> {
    const path = this.pathOf(`${file.id}.json`);
    const handle = await open(`${path}.part`, 'w');
    try {
      await handle.writeFile(JSON.stringify(file));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${path}.part`, path);
    this.files.set(file.id, file);
  }

  /** Makes files of a batch's results that are not empty. @param bytes their sizes */
  async addResults(
    batch: string,
    bytes: { readonly output: number; readonly errors: number },
    at: number,
    keepSeconds: number,
  ): Promise<Patch> {
    const names = outputOf({ id: batch });
    const add = async (id: string, size: number, filename: string): Promise<string | null> => {
      const file = { id, bytes: size, created_at: at, expires_at: at + keepSeconds, filename };
      if (size === 0) await rm(this.pathOf(id), { force: true });
      else await this.addFile({ ...file, object: 'file', purpose: 'batch_output', status: 'processed' });
      return size === 0 ? null : id;
    };
    return {
      output_file_id: await add(names.output, bytes.output, `${batch}_output.jsonl`),
      error_file_id: await add(names.errors, bytes.errors, `${batch}_error.jsonl`),
    };
  }

  /** The object goes first: a content without one is a leftover. */
  async removeFile(id: string): Promise<void> {
    this.files.delete(id);
    await rm(this.pathOf(`${id}.json`), { force: true });
    await rm(this.pathOf(id), { force: true });
  }

  /** The unfinished batch that reads the file. */
  readerOf(id: string): BatchObject | undefined {
    return [...this.batches.values()].find((batch) => batch.input_file_id === id && !isEnded(batch));
  }

  /**
   * Changes a batch, or adds one, one change after the other. It is in effect once the journal has it.
   * @param patchOf reads the batch as of its turn
   * @param isSure whether a write that fails is repeated until it works
   */
  change(id: string, patchOf: Patch | ((batch: BatchObject) => Patch), isSure = false): Promise<BatchObject> {
    const changed = this.#changing.then(() => {
      const patch = typeof patchOf === 'function' ? patchOf(this.batches.get(id) as BatchObject) : patchOf;
      return this.#write(id, patch, isSure ? this.disk : { ...this.disk, failed: () => Promise.resolve(false) });
    });
    this.#changing = changed.catch(() => undefined);
    return changed;
  }

  async #write(id: string, patch: Patch, disk: Disk): Promise<BatchObject> {
    const journal = await LineFile.open(this.pathOf(`${id}.jsonl`), this.#journals.get(id) ?? 0, disk);
    try {
      await journal.append(JSON.stringify(patch));
      await journal.handle.sync();
      this.#journals.set(id, journal.bytes);
    } finally {
      await journal.close();
    }
    const batch = { ...this.batches.get(id), ...patch } as BatchObject;
    this.batches.set(id, batch);
    return batch;
  }

  async removeBatch(id: string): Promise<void> {
    this.batches.delete(id);
    this.#journals.delete(id);
    await rm(this.pathOf(`${id}.jsonl`), { force: true });
  }

  async #readJournal(name: string): Promise<void> {
    const id = name.slice(0, -'.jsonl'.length);
    let batch: Patch = {};
    let size = 0;
    for await (const lines of readLines(this.pathOf(name), JOURNAL_LINE_BYTES))
      for (const { head, length, isEnded: isWhole } of lines) {
        if (!isWhole) break;
        batch = { ...batch, ...(JSON.parse(head.toString()) as Patch) };
        size += length + 1;
      }
    // The process was killed before its first line was whole, so no client knows of it.
    if (batch.id === undefined) return rm(this.pathOf(name), { force: true });
    this.#journals.set(id, size);
    this.batches.set(id, batch as BatchObject);
  }
}
