import { z } from 'zod';

/** Tokens: so many at most that sums of them are exact. */
export const count = z.int().min(0).max(1e9);
/** A time that something takes, or since 1970 or the beginning of a trace: thousands of years at most, and no NaN. */
export const milliseconds = z.number().min(0).max(1e14);
export const seconds = z.number().min(0).max(1e11);

/** A date as text, as milliseconds since 1970. */
export const date = z
  .string()
  .transform((text) => Date.parse(text))
  .refine((ms) => milliseconds.safeParse(ms).success, 'not a date and time');

/** What a recording may lack, by leaving it out or by null. */
export const optional = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? undefined);

/** To the millisecond, as no recording is more exact. */
export const toMs = (time: number): number => Math.round(time * 1000);
