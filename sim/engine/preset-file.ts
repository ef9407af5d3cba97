import { z } from 'zod';
import { issueText, UNKNOWN_KEY } from '../../workloads/index.js';
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

/** The output of `maitred sim calibrate --json`. The section about the fit is for people only. */
const fileSchema = z.strictObject({ version: z.literal(1), preset: presetSchema, fit: z.unknown().optional() });

/**
 * Reads the text of a preset file.
 * @throws TypeError that names each bad field.
 */
export function readPreset(text: string): Preset {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new TypeError(`not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const result = fileSchema.safeParse(document, { reportInput: true });
  if (!result.success) throw new TypeError(result.error.issues.flatMap(findings).join('; '));
  return result.data.preset;
}

/** The problem of each field, after its name. */
function findings(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${[...issue.path, key].join('.')} ${UNKNOWN_KEY}`);
  return [`${issue.path.join('.')} ${issueText(issue)}`.trim()];
}
