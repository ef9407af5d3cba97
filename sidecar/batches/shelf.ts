import { mkdirSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TenantId } from '../../src/index.js';
import { checkOurs, type Disk } from './line-file.js';
import { isEnded, newFile, outputOf, type BatchObject, type FileObject } from './objects.js';
import type { Results } from './results.js';

type Patch = Partial<BatchObject>;

/**
 * The files and batches of one tenant, in a folder of its own:
 *
 *   file-NAME         content
 *   file-NAME.json    its object; written last, so that no other content counts
 *   batch_NAME.json   object of a batch
 *   *.part            an upload under way, or an object that is being written
 */
export class Shelf {
  readonly files = new Map<string, FileObject>();
  readonly batches = new Map<string, BatchObject>();
  readonly uploads = new Set<{ readonly bytes: number }>();
  #changing: Promise<unknown> = Promise.resolve();

  constructor(
    readonly tenant: TenantId,
    readonly folder: string,
    private readonly disk: Disk,
  ) {
    mkdirSync(folder, { recursive: true });
  }

  /** Takes over what an earlier process has left, but for leftovers. */
  async restore(): Promise<void> {
    const { files, batches, folder } = this;
    const names = await readdir(folder);
    const objects = await Promise.all(
      names
        .filter((name) => name.endsWith('.json'))
        .map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as FileObject | BatchObject),
    );
    for (const each of objects.sort((a, b) => a.created_at - b.created_at))
      if (each.object === 'file') files.set(each.id, each);
      else batches.set(each.id, each);
    const used = new Set(this.unfinished.flatMap((batch) => Object.values(outputOf(batch.id))));
    for (const name of names) {
      const isLeft = name.endsWith('.part') || (/^file-\w+$/.test(name) && !files.has(name) && !used.has(name));
      if (isLeft) await rm(join(folder, name), { force: true });
    }
  }

  get unfinished(): BatchObject[] {
    return [...this.batches.values()].filter((batch) => !isEnded(batch));
  }

  get bytes(): number {
    return [...this.files.values(), ...this.uploads].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  pathOf(name: string): string {
    return join(this.folder, name);
  }

  /** Adds a file whose content is there. */
  async addFile(file: FileObject): Promise<void> {
    await this.#save(file);
    this.files.set(file.id, file);
  }

  /** Makes files of a batch's results that are not empty. @param bytes their sizes */
  async addResults(batch: string, bytes: Results['bytes'], at: number, keepSeconds: number): Promise<Patch> {
    const add = async (id: string, size: number, filename: string): Promise<string | null> => {
      if (size === 0) await rm(this.pathOf(id), { force: true });
      else await this.addFile(newFile({ id, bytes: size, filename }, 'batch_output', at, keepSeconds));
      return size === 0 ? null : id;
    };
    const { output, errors } = outputOf(batch);
    return {
      output_file_id: await add(output, bytes.output, `${batch}_output.jsonl`),
      error_file_id: await add(errors, bytes.errors, `${batch}_error.jsonl`),
    };
  }

  /** Removes a file or a batch. The object goes first: a content without one is a leftover. */
  async remove(id: string): Promise<void> {
    this.files.delete(id);
    this.batches.delete(id);
    await rm(this.pathOf(`${id}.json`), { force: true });
    await rm(this.pathOf(id), { force: true });
  }

  /** The unfinished batch that reads the file. */
  readerOf(id: string): BatchObject | undefined {
    return this.unfinished.find((batch) => batch.input_file_id === id);
  }

  /** Changes or adds a batch, one change after the other. It is in effect once the disk has it. */
  change(id: string, patchOf: Patch | ((batch: BatchObject) => Patch)): Promise<BatchObject> {
    const changed = this.#changing.then(async () => {
      const before = this.batches.get(id) as BatchObject;
      const batch = { ...before, ...(typeof patchOf === 'function' ? patchOf(before) : patchOf) };
      await this.#save(batch);
      this.batches.set(id, batch);
      return batch;
    });
    this.#changing = changed.catch(() => undefined);
    return changed;
  }

  /** Whatever happens meanwhile, the file has the object as it was or as it is. */
  async #save(object: FileObject | BatchObject): Promise<void> {
    checkOurs(this.disk);
    const path = this.pathOf(`${object.id}.json`);
    await writeFile(`${path}.part`, JSON.stringify(object), { flush: true });
    await rename(`${path}.part`, path);
  }
}
