import { randomBytes } from 'node:crypto';
import type { Problem } from '../../plans/index.js';

/** A file, as `/v1/files` shows it. Times are in seconds since 1970. */
export interface FileObject {
  readonly id: string;
  readonly object: 'file';
  readonly bytes: number;
  readonly created_at: number;
  readonly expires_at: number;
  readonly filename: string;
  readonly purpose: 'batch' | 'batch_output';
  readonly status: 'processed';
}

export type Status =
  'validating' | 'failed' | 'in_progress' | 'finalizing' | 'completed' | 'expired' | 'cancelling' | 'cancelled';

/** A batch, as `/v1/batches` shows it. */
export interface BatchObject {
  readonly id: string;
  readonly object: 'batch';
  readonly endpoint: string;
  readonly errors: { readonly object: 'list'; readonly data: readonly Problem[] } | null;
  readonly input_file_id: string;
  readonly completion_window: string;
  readonly status: Status;
  readonly output_file_id: string | null;
  readonly error_file_id: string | null;
  readonly created_at: number;
  readonly in_progress_at: number | null;
  readonly expires_at: number;
  readonly finalizing_at: number | null;
  readonly completed_at: number | null;
  readonly failed_at: number | null;
  readonly expired_at: number | null;
  readonly cancelling_at: number | null;
  readonly cancelled_at: number | null;
  readonly request_counts: { readonly total: number; readonly completed: number; readonly failed: number };
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** A request for a batch, checked. */
export interface BatchRequest {
  readonly input_file_id: string;
  readonly endpoint: string;
  readonly completion_window: string;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
}

/** A change of a batch: a line of its journal. The first one has all fields. */
export type Patch = Partial<BatchObject>;

const ENDED: ReadonlySet<Status> = new Set(['failed', 'completed', 'expired', 'cancelled']);

export const isEnded = ({ status }: Pick<BatchObject, 'status'>): boolean => ENDED.has(status);

/** The hexadecimal part of an id, which names its files too. */
export const newName = (): string => randomBytes(12).toString('hex');

export const nameOf = (id: string): string => id.slice(id.search(/[-_]/) + 1);

/** The files into which a batch writes. */
export const outputOf = ({ id }: Pick<BatchObject, 'id'>): { readonly output: string; readonly errors: string } => ({
  output: `file-${nameOf(id)}o`,
  errors: `file-${nameOf(id)}e`,
});

export function newBatch(request: BatchRequest, at: number, windowSeconds: number): BatchObject {
  const { input_file_id, endpoint, completion_window, metadata = null } = request;
  return {
    id: `batch_${newName()}`,
    object: 'batch',
    endpoint,
    errors: null,
    input_file_id,
    completion_window,
    status: 'validating',
    output_file_id: null,
    error_file_id: null,
    created_at: at,
    in_progress_at: null,
    expires_at: at + windowSeconds,
    finalizing_at: null,
    completed_at: null,
    failed_at: null,
    expired_at: null,
    cancelling_at: null,
    cancelled_at: null,
    request_counts: { total: 0, completed: 0, failed: 0 },
    metadata,
  };
}
