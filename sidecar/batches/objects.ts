import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Problem } from '../../plans/index.js';
import { path } from './lines.js';
import { usageOf } from './usage.js';

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

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
const WINDOW_SECONDS_MAX = 30 * UNITS.d;
const PAIRS_MAX = 16;

/** @param window as `24h` */
const secondsOf = (window: string): number =>
  Number(window.slice(0, -1)) * UNITS[window.slice(-1) as keyof typeof UNITS];

export const BatchRequest = z.object({
  input_file_id: z.string(),
  endpoint: path,
  completion_window: z
    .string()
    .refine((text) => /^[1-9]\d{0,6}[smhd]$/.test(text) && secondsOf(text) <= WINDOW_SECONDS_MAX, {
      error: 'must be a time such as 24h, at most 30d',
    }),
  metadata: z
    .record(z.string().max(64), z.string().max(512))
    .refine((pairs) => Object.keys(pairs).length <= PAIRS_MAX, { error: `must have at most ${PAIRS_MAX} pairs` })
    .nullish(),
  output_expires_after: z
    .strictObject({ anchor: z.literal('created_at'), seconds: z.number().int().min(UNITS.h).max(WINDOW_SECONDS_MAX) })
    .nullish(),
});

const ENDED: ReadonlySet<Status> = new Set(['failed', 'completed', 'expired', 'cancelled']);

export const isEnded = ({ status }: Pick<BatchObject, 'status'>): boolean => ENDED.has(status);

export const endOf = (batch: BatchObject): number =>
  batch.completed_at ?? batch.failed_at ?? batch.expired_at ?? batch.cancelled_at ?? batch.created_at;

/** The hexadecimal part of an id, which names its files too. */
export const newName = (): string => randomBytes(12).toString('hex');

export const nameOf = (id: string): string => id.slice(id.search(/[-_]/) + 1);

export const outputOf = (id: string) => ({ output: `file-${nameOf(id)}o`, errors: `file-${nameOf(id)}e` });

const UNSET = null as number | null;

/** In OpenAI's form; null for none. */
export const listed = (data: readonly Problem[]) => (data.length === 0 ? null : { object: 'list' as const, data });

type Listed = ReturnType<typeof listed>;

export const newBatch = (request: z.output<typeof BatchRequest>, at: number) => ({
  id: `batch_${newName()}`,
  object: 'batch' as const,
  endpoint: request.endpoint,
  errors: null as Listed,
  /** Texts of the file that may be mistaken, and models that no engine serves. */
  warnings: null as Listed,
  /** The first lines to fail, and why. */
  failures: null as Listed,
  input_file_id: request.input_file_id,
  /** That of all lines; null: they differ, or the file has not been read. */
  model: null as string | null,
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
  /** Of the completed lines, those that were not asked, as their condition did not hold. */
  left_out: 0,
  usage: usageOf(),
  metadata: request.metadata ?? null,
  output_expires_after: request.output_expires_after ?? null,
});
