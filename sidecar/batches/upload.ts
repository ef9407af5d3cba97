import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { finished, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { z } from 'zod';
import type { Config } from '../config/index.js';
import { GatewayError } from '../errors.js';
import { checked } from '../http/checked.js';
import type { Admitted } from '../http/listener.js';
import { ofDisk } from './line-file.js';
import { newFile, newName, type FileObject } from './objects.js';
import type { Shelf } from './shelf.js';

/** Longest field besides the file, and most of them. */
const FIELD_CHARS_MAX = 1000;
const FIELDS_MAX = 20;

const fieldsOf = (keepSeconds: number) =>
  z.object({
    purpose: z.literal('batch'),
    'expires_after[seconds]': z.coerce.number().int().min(60).max(keepSeconds).default(keepSeconds),
  });

/** Takes a file from a form, straight to the disk. @throws GatewayError */
export async function upload(
  shelf: Shelf,
  { fileBytes, bytesMax, filesMax, keepMs }: Config['batches'],
  { request, response }: Admitted,
): Promise<FileObject> {
  const form = formOf(request);
  const tooLarge = () =>
    new GatewayError('body_too_large', `The file is over ${fileBytes} bytes (batches.fileBytes): split it.`);
  const full = (what: string) =>
    new GatewayError('files_full', `A tenant may not have more than ${what}. Delete some of /v1/files first.`);
  // The form adds little to its file.
  if (Number(request.headers['content-length'] ?? 0) > fileBytes + 65_536) throw tooLarge();
  if (shelf.files.size + shelf.uploads.size >= filesMax) throw full(`${filesMax} files`);
  if (request.headers.expect !== undefined) response.writeContinue();
  const id = `file-${newName()}`;
  const part = shelf.pathOf(`${id}.part`);
  const coming = { bytes: 0 };
  const meter = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      coming.bytes += chunk.length;
      if (coming.bytes > fileBytes) throw tooLarge();
      if (shelf.bytes > bytesMax) throw full(`${bytesMax} bytes of files`);
      yield chunk;
    }
  };
  const stop = new AbortController();
  let kept: Promise<void> | undefined;
  shelf.uploads.add(coming);
  try {
    const { filename, fields } = await received(request, form, (content) => {
      const file = createWriteStream(part, { flush: true });
      // One that is aborted while it opens is there only then.
      const closed = new Promise<void>((resolve) => void file.once('close', resolve));
      kept = pipeline(content, meter, file, { signal: stop.signal }).finally(() => closed);
      return kept;
    });
    await kept;
    const { purpose, 'expires_after[seconds]': seconds } = checked(fieldsOf(keepMs / 1000), fields);
    if (filename === undefined) throw wrong('file', 'is missing');
    if (coming.bytes === 0) throw wrong('file', 'is empty: it needs at least one line');
    await rename(part, shelf.pathOf(id));
    const file = newFile({ id, bytes: coming.bytes, filename }, purpose, Math.floor(Date.now() / 1000), seconds);
    await shelf.addFile(file);
    return file;
  } catch (error) {
    stop.abort();
    await kept?.catch(() => undefined);
    // The rest of the body is read and dropped, so that the client reads the answer.
    request.unpipe(form).resume();
    for (const path of [part, shelf.pathOf(id)]) await rm(path, { force: true }).catch(() => undefined);
    if (request.destroyed && !request.complete)
      throw new GatewayError('client_gone', 'The client left while sending its file.');
    throw ofDisk(error);
  } finally {
    shelf.uploads.delete(coming);
  }
}

/** @throws GatewayError `unsupported_media_type` */
function formOf({ headers }: IncomingMessage): BusboyInstance {
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      limits: { files: 1, fields: FIELDS_MAX, fieldSize: FIELD_CHARS_MAX, headerSize: 16_384 },
      isPartAFile: (name) => name === 'file',
    });
  } catch {
    throw new GatewayError('unsupported_media_type', 'The content type must be multipart/form-data with a boundary.');
  }
}

/** The whole form. Its file may not be kept yet. @throws GatewayError `invalid_body`, and what `keep` throws */
async function received(request: IncomingMessage, form: BusboyInstance, keep: (content: Readable) => Promise<void>) {
  const fields: Record<string, string> = {};
  let filename: string | undefined;
  await new Promise<void>((resolve, reject) => {
    form.on('field', (name, value, _, isCut) => {
      if (isCut) reject(wrong(name.slice(0, 100), 'is too long'));
      fields[name] = value;
    });
    form.on('file', (_, content, name: string | undefined) => {
      filename = (name ?? 'upload').slice(0, FIELD_CHARS_MAX);
      keep(content).catch(reject);
    });
    form.on('filesLimit', () => reject(wrong('file', 'is there twice')));
    form.on('fieldsLimit', () => reject(wrong('form', 'has too many fields')));
    form.on('error', (error: unknown) => reject(wrong('form', `is malformed: ${(error as Error).message}`)));
    form.on('finish', resolve);
    finished(request, (error) => error && reject(error));
    request.pipe(form);
  });
  return { filename, fields };
}

const wrong = (param: string, message: string) => new GatewayError('invalid_body', `'${param}' ${message}.`, { param });
