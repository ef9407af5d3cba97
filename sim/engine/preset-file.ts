import { z } from 'zod';
import type { Preset } from './presets.js';

const positive = z.number().positive().max(1e30);
const count = z.int().min(1).max(1e9);

/** A custom preset. Its fields are those of `Preset`, units included. */
export const presetSchema: z.ZodType<Preset> = z.strictObject({
  model: z.string().min(1),
  weightBytes: positive,
  experts: z
    .strictObject({ bytes: positive, total: count, perToken: count })
    .refine(({ total, perToken }) => perToken <= total, 'perToken must not exceed total')
    .optional(),
  flopsPerToken: positive,
  attentionFlops: positive,
  kvBytesPerToken: positive,
  flopsPerSecond: positive,
  bytesPerSecond: positive,
  stepOverheadMs: z.number().min(0).max(1e6),
  sequenceOverheadMs: z.number().min(0).max(1e6),
  hostBytesPerSecond: positive.optional(),
  kvTokens: z.int().min(32).max(1e9),
  batchTokens: count,
  slots: z.int().min(1).max(100_000),
  maxModelLen: z.int().min(2).max(1e9),
});

/** The output of `maitred sim calibrate --json`. The rest of the section about the fit is for people only. */
export const presetFileSchema = z.strictObject({
  version: z.literal(1),
  preset: presetSchema,
  fit: z.object({ isGood: z.boolean().optional() }).optional().catch(undefined),
});
