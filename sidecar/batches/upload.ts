import { open, rename, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../config/index.js';
import { GatewayError } from '../errors.js';
import { boundaryOf, readForm } from './multipart.js';
import { newName, type FileObject } from './objects.js';
import type { Shelf } from './shelf.js';

type UploadLimits = Pick<Config['batches'], 'fileBytes' | 'bytesMax' | 'filesMax' | 'keepMs'>;

/** Longest field besides the file. */
const FIELD_CHARS_MAX = 1000;
const FIELDS_MAX = 20;

/**
 * Takes a file from a form, straight to the disk.
 * @throws GatewayError
 */
export async function upload(
  shelf: Shelf,
  limits: UploadLimits,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<FileObject> {
  const boundary = boundaryOf(request.headers['content-type']);
  checkRoom(shelf, limits, Number(request.headers['content-length'] ?? 0));
  if (request.headers.expect !== undefined) response.writeContinue();
  const id = `file-${newName()}`;
  const part = shelf.pathOf(`${id}.part`);
  const coming = { bytes: 0 };
  shelf.uploads.add(coming);
  try {
    const { filename, fields } = await receive(shelf, limits, request, part, boundary, coming);
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
    const nowSeconds = Math.floor(Date.now() / 1000);
    const file: FileObject = {
      id,
      object: 'file',
      bytes: coming.bytes,
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
  } finally {
    shelf.uploads.delete(coming);
  }
}

async function receive(
  shelf: Shelf,
  limits: UploadLimits,
  request: IncomingMessage,
  path: string,
  boundary: string,
  coming: { bytes: number },
) {
  const fields = new Map<string, string>();
  const files: string[] = [];
  let name = '';
  const handle = await open(path, 'w');
  try {
    await readForm(request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>, boundary, {
      open: (given, file = 'upload') => {
        name = given;
        if (name !== 'file') fields.set(name, '');
        else if (files.push(file.slice(0, FIELD_CHARS_MAX)) > 1) throw wrong('file', 'is there twice');
      },
      data: async (chunk) => {
        if (name !== 'file') {
          const text = `${fields.get(name) ?? ''}${chunk.toString()}`;
          if (text.length > FIELD_CHARS_MAX || fields.size > FIELDS_MAX) throw wrong(name.slice(0, 100), 'is too long');
          fields.set(name, text);
          return;
        }
        coming.bytes += chunk.length;
        if (coming.bytes > limits.fileBytes) throw tooLarge(limits);
        if (shelf.bytes > limits.bytesMax) throw full(`more than ${limits.bytesMax} bytes of files`);
        await handle.writeFile(chunk);
      },
    });
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { filename: files[0], fields };
}

function checkRoom(shelf: Shelf, limits: UploadLimits, bytes: number): void {
  // The form adds little to its file.
  if (bytes > limits.fileBytes + 65_536) throw tooLarge(limits);
  if (shelf.files.size + shelf.uploads.size >= limits.filesMax) throw full(`more than ${limits.filesMax} files`);
}

/** Whether the disk has no room, or none for this user. */
export const isFull = (error: unknown): error is Error =>
  ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');

/** An error of the disk as one for the client. */
export const ofDisk = (error: unknown): unknown =>
  isFull(error) ? new GatewayError('storage_full', 'The disk of batches is full. Nothing was kept.') : error;

const gone = () => new GatewayError('client_gone', 'The client left while sending its file.');
const wrong = (param: string, message: string) => new GatewayError('invalid_body', `'${param}' ${message}.`, { param });
const tooLarge = ({ fileBytes }: UploadLimits) =>
  new GatewayError('body_too_large', `The file is over ${fileBytes} bytes.`);
const full = (what: string) =>
  new GatewayError('files_full', `A tenant may not have ${what}. Delete some of /v1/files first.`);
