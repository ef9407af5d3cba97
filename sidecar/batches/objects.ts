import { randomBytes } from 'node:crypto';
import type { Problem } from '../../plans/index.js';

/** A file, as `/v1/files` shows it. Times are in seconds since 1970. */
export type FileObject = Readonly<ReturnType<typeof newFile>>;

export const newFile = (
  file: { readonly id: string; readonly bytes: number; readonly filename: string },
  purpose: 'batch' | 'batch_output',
  at: number,
  keepSeconds: number,
) => ({
  ...file,
  object: 'file' as const,
  created_at: at,
  expires_at: Math.floor(at + keepSeconds),
  purpose,
  status: 'processed' as const,
});

export type Status =
  'validating' | 'failed' | 'in_progress' | 'finalizing' | 'completed' | 'expired' | 'cancelling' | 'cancelled';

/** A batch, as `/v1/batches` shows it. */
export type BatchObject = Readonly<ReturnType<typeof newBatch>>;

/** A request for a batch, checked. */
export interface BatchRequest {
  readonly input_file_id: string;
  readonly endpoint: string;
  readonly completion_window: string;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
}

/** A change of a batch. */
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

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** @param window as `24h` */
export const secondsOf = (window: string): number =>
  Number(window.slice(0, -1)) * UNITS[window.slice(-1) as keyof typeof UNITS];

const UNSET = null as number | null;

export const newBatch = (request: BatchRequest, at: number) => ({
  id: `batch_${newName()}`,
  object: 'batch' as const,
  endpoint: request.endpoint,
  errors: null as { readonly object: 'list'; readonly data: readonly Problem[] } | null,
  input_file_id: request.input_file_id,
  completion_window: request.completion_window,
  status: 'validating' as Status,
  output_file_id: null as string | null,
  error_file_id: null as string | null,
  created_at: at,
  in_progress_at: UNSET,
  expires_at: at + secondsOf(request.completion_window),
  finalizing_at: UNSET,
  completed_at: UNSET,
  failed_at: UNSET,
  expired_at: UNSET,
  cancelling_at: UNSET,
  cancelled_at: UNSET,
  request_counts: { total: 0, completed: 0, failed: 0 },
  metadata: request.metadata ?? null,
});
