import { z } from 'zod';

/** A number of tokens, bounded so that sums are exact. */
export const count = z.int().min(0).max(1e9);
/** A duration, or a time since 1970 or the start of a trace: thousands of years at most, and not NaN. */
export const milliseconds = z.number().min(0).max(1e14);
export const seconds = z.number().min(0).max(1e11);

/** A date as text, in milliseconds since 1970. */
export const date = z
  .string()
  .transform((text) => Date.parse(text))
  .refine((ms) => milliseconds.safeParse(ms).success, 'not a date and time');

/** A value that a recording may omit or set to null. */
export const optional = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? undefined);

/** Rounded to the millisecond, as no recording is more exact. */
export const toMs = (time: number): number => Math.round(time * 1000);
