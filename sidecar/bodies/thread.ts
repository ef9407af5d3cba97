import { parentPort } from 'node:worker_threads';
import { apiFor, passed } from '../apis/index.js';
import { GatewayError, type ErrorCode } from '../errors.js';
import { readBodyOf, toSent, type SentBody } from './read.js';
import { checkShape, shapeOf, type ShapeLimits } from './shape.js';

/** The thread that reads large bodies; `reader.ts` is its other end. */

export interface ReadJob {
  /** Of an API; any other is passed through. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly limits: ShapeLimits & { readonly inlineBytes: number };
}

/** The bytes come back, whatever is said of them. */
export type ReadResult = { readonly bytes: Uint8Array; readonly skipped: number } & (
  | { readonly sent: SentBody }
  | {
      readonly refused: { readonly code: ErrorCode; readonly message: string; readonly detail: GatewayError['detail'] };
    }
);

function read({ path, bytes, limits }: ReadJob): ReadResult {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    checkShape(shapeOf(buffer), limits);
    const body = readBodyOf(apiFor(path) ?? passed, buffer);
    return { bytes, skipped: bytes.length - body.raw.length, sent: toSent(body, limits.inlineBytes) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, message, detail } = error;
    return { bytes, skipped: 0, refused: { code, message, detail } };
  }
}

parentPort?.on('message', (job: ReadJob) => {
  const result = read(job);
  parentPort?.postMessage(result, [result.bytes.buffer as ArrayBuffer]);
});
