import { constants, createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { GatewayError } from '../errors.js';

const NEWLINE = 0x0a;

/** Where a line is in its file, without its end. */
export interface Place {
  readonly offset: number;
  readonly length: number;
}

export const NOWHERE: Place = { offset: 0, length: 0 };

export interface FileLine extends Place {
  /** From 1. */
  readonly number: number;
  /** Its beginning, up to the bytes that the reader keeps. */
  readonly head: Buffer;
  /** Whether a line end follows. */
  readonly isEnded: boolean;
}

/** The lines of a file, those of one read at a time, so that other work comes between. @param keepBytes kept of each */
export async function* readLines(path: string, keepBytes: number): AsyncGenerator<readonly FileLine[]> {
  let [number, offset, length] = [1, 0, 0];
  let kept: Buffer[] = [];
  const keep = (part: Buffer): void => {
    if (length < keepBytes) kept.push(part.subarray(0, keepBytes - length));
    length += part.length;
  };
  const ended = (isEnded: boolean): FileLine => {
    const line = {
      number,
      offset,
      length,
      head: kept.length === 1 ? (kept[0] as Buffer) : Buffer.concat(kept),
      isEnded,
    };
    [number, offset, length, kept] = [number + 1, offset + length + 1, 0, []];
    return line;
  };
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    const lines: FileLine[] = [];
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      keep(chunk.subarray(from, at));
      lines.push(ended(true));
      from = at + 1;
    }
    keep(chunk.subarray(from));
    yield lines;
  }
  if (length > 0) yield [ended(false)];
}

/** Bytes of a file. @throws Error if it ends earlier */
export async function readAt(handle: FileHandle, { offset, length }: Place): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset);
  if (bytesRead < length) throw new Error('the file is shorter than it was');
  return buffer;
}

/** The folder of batches, as its files see it. */
export interface Disk {
  /** False: another gateway may write into the folder, so nothing here does. */
  readonly isOurs: () => boolean;
  /** Hears of a write that failed. Resolves when to try again, with whether to. */
  readonly failed: (error: Error) => Promise<boolean>;
}

export const moving = () => new GatewayError('batches_moving', 'No gateway has taken over the batches yet. Ask again.');

/** @throws GatewayError `batches_moving` if another gateway may write there */
export function checkOurs({ isOurs }: Disk): void {
  if (!isOurs()) throw moving();
}

/** Whether the disk has no room, or none for this user. */
const isFull = (error: unknown): error is Error =>
  ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');

/** The fault of a folder that cannot be used, by the error of the system. */
export const FOLDER_FAULTS: Readonly<Record<string, string>> = {
  ENOTDIR: 'is no folder',
  EACCES: 'may not be read and written by this user',
  EPERM: 'may not be read and written by this user',
  EROFS: 'can only be read',
  ENOSPC: 'is on a full disk',
  EDQUOT: 'is on a disk without room for this user',
};

/** An error of the disk as one for the client. */
export function ofDisk(error: unknown): unknown {
  if (isFull(error)) return new GatewayError('storage_full', 'The disk of batches is full. Nothing was kept.');
  const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
  return isGone
    ? new GatewayError(
        'internal',
        'The folder of batches has lost files. Its operator must restore it, and restart the gateway.',
      )
    : error;
}

/** Repeats what a full disk prevents. */
export async function surely<T>({ failed }: Disk, write: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await write();
    } catch (error) {
      if (!isFull(error) || !(await failed(error))) throw error;
    }
}

/** A file to which lines are appended, each whole and one after the other: a failed write is repeated in its place. */
export class LineFile {
  private constructor(
    readonly handle: FileHandle,
    public bytes: number,
    private readonly disk: Disk,
  ) {}

  /** Opens or makes a file, and cuts what follows its first `size` bytes: a half-written line. */
  static async open(path: string, size: number, disk: Disk): Promise<LineFile> {
    const handle = await open(path, constants.O_RDWR | constants.O_CREAT);
    await handle.truncate(size);
    return new LineFile(handle, size, disk);
  }

  /** @returns where the line is, once the system has it @throws Error if it failed and is not to be repeated */
  async append(line: string): Promise<Place> {
    const bytes = Buffer.from(`${line}\n`);
    const offset = this.bytes;
    checkOurs(this.disk);
    for (let done = 0; done < bytes.length;)
      try {
        done += (await this.handle.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
      } catch (error) {
        if (!(await this.disk.failed(error as Error))) throw error;
      }
    this.bytes += bytes.length;
    return { offset, length: bytes.length - 1 };
  }
}
