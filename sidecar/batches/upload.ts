import { open, rename, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../errors.js';
import { boundaryOf, readForm } from './multipart.js';
import { newName, type FileObject } from './objects.js';
import type { Shelf } from './shelf.js';

export interface UploadLimits {
  readonly fileBytes: number;
  readonly bytesMax: number;
  readonly filesMax: number;
  readonly keepMs: number;
}

/** Longest field besides the file. */
const FIELD_CHARS_MAX = 1000;

/**
 * Takes a file from a form, straight to the disk.
 * @throws GatewayError
 */
export async function upload(
  shelf: Shelf,
  limits: UploadLimits,
  request: IncomingMessage,
  response: ServerResponse,
  nowSeconds: number,
): Promise<FileObject> {
  const boundary = boundaryOf(request.headers['content-type']);
  checkRoom(shelf, limits, Number(request.headers['content-length'] ?? 0));
  if (request.headers.expect !== undefined) response.writeContinue();
  const id = `file-${newName()}`;
  const part = shelf.pathOf(`${id}.part`);
  try {
    const { bytes, filename, fields } = await receive(shelf, limits, request, part, boundary);
    const purpose = fields.get('purpose');
    if (purpose !== 'batch') throw wrong('purpose', purpose === undefined ? 'is missing' : 'must be batch');
    if (filename === undefined) throw wrong('file', 'is missing');
    const keep = limits.keepMs / 1000;
    const after = fields.get('expires_after[seconds]');
    const seconds = after === undefined ? keep : Number(after);
    if (!Number.isInteger(seconds) && after !== undefined)
      throw wrong('expires_after[seconds]', 'must be a whole number');
    if (seconds < 60 || seconds > keep) throw wrong('expires_after[seconds]', `must be 60 to ${keep}`);
    await rename(part, shelf.pathOf(id));
    const file: FileObject = {
      id,
      object: 'file',
      bytes,
      created_at: nowSeconds,
      expires_at: Math.floor(nowSeconds + seconds),
      filename,
      purpose,
      status: 'processed',
    };
    await shelf.addFile(file);
    return file;
  } catch (error) {
    // The rest of the body is read and dropped, so that the client reads the answer.
    request.resume();
    for (const path of [part, shelf.pathOf(id)]) await rm(path, { force: true }).catch(() => undefined);
    throw request.destroyed && !request.complete ? gone() : ofDisk(error);
  }
}

async function receive(shelf: Shelf, limits: UploadLimits, request: IncomingMessage, path: string, boundary: string) {
  const fields = new Map<string, string>();
  let [name, filename, bytes]: [string, string | undefined, number] = ['', undefined, 0];
  const handle = await open(path, 'w');
  try {
    await readForm(request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>, boundary, {
      open: (given, file) => {
        name = given;
        if (name === 'file' && filename !== undefined) throw wrong('file', 'is there twice');
        if (name === 'file') filename = (file ?? 'upload').slice(0, FIELD_CHARS_MAX);
        else fields.set(name, '');
      },
      data: async (chunk) => {
        if (name !== 'file') {
          fields.set(name, `${fields.get(name) ?? ''}${chunk.toString()}`);
          if ((fields.get(name)?.length ?? 0) > FIELD_CHARS_MAX || fields.size > 20) throw wrong(name, 'is too long');
          return;
        }
        bytes += chunk.length;
        if (bytes > limits.fileBytes) throw tooLarge(limits);
        if (shelf.bytes + bytes > limits.bytesMax) throw full(`more than ${limits.bytesMax} bytes of files`);
        await handle.writeFile(chunk);
      },
    });
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { bytes, filename, fields };
}

function checkRoom(shelf: Shelf, limits: UploadLimits, bytes: number): void {
  // The form adds little to its file.
  if (bytes > limits.fileBytes + 65_536) throw tooLarge(limits);
  if (shelf.files.size >= limits.filesMax) throw full(`more than ${limits.filesMax} files`);
}

/** An error of the disk as one for the client. */
export function ofDisk(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new GatewayError('storage_full', 'The disk of batches is full. Nothing was kept.');
  return error;
}

const gone = () => new GatewayError('client_gone', 'The client left while sending its file.');
const wrong = (param: string, message: string) => new GatewayError('invalid_body', `'${param}' ${message}.`, { param });
const tooLarge = ({ fileBytes }: UploadLimits) =>
  new GatewayError('body_too_large', `The file is over ${fileBytes} bytes.`);
const full = (what: string) =>
  new GatewayError('files_full', `A tenant may not have ${what}. Delete some of /v1/files first.`);
