import { hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { apiFor, passed } from '../apis/index.js';
import { GatewayError } from '../errors.js';
import { beginningOf, type Beginning, type Hashes } from './beginnings.js';
import { readBodyOf, toSent, type SentBody } from './read.js';
import { checkShape, skeletonOf, type ShapeLimits } from './skeleton.js';

/** The thread that reads large bodies; `reader.ts` is its other end. */

export interface ReadJob {
  /** Path of an API; any other body is passed through. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly hashes: Hashes | undefined;
  readonly limits: ShapeLimits & { readonly inlineBytes: number };
}

/** The thread returns the bytes in every case. */
export type ReadResult = { readonly bytes: Uint8Array } & (
  | { readonly sent: SentBody; readonly beginning: Beginning | undefined }
  | { readonly refused: Pick<GatewayError, 'code' | 'message' | 'detail'> }
);

function read({ path, bytes, hashes, limits }: ReadJob): ReadResult {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const api = apiFor(path) ?? passed;
    const skeleton = skeletonOf(raw, api.list);
    checkShape(skeleton, limits);
    const read = readBodyOf(api, raw);
    const { list } = skeleton;
    const beginning = hashes && beginningOf(api, hashes, { body: read.body, list }, undefined, limits.inlineBytes);
    const sent = toSent(read, hashes?.whole ?? hash('sha256', raw, 'base64url'), limits.inlineBytes);
    return { bytes, sent, beginning };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, message, detail } = error;
    return { bytes, refused: { code, message, detail } };
  }
}

parentPort?.on('message', (job: ReadJob) => {
  const result = read(job);
  parentPort?.postMessage(result, [result.bytes.buffer as ArrayBuffer]);
});
