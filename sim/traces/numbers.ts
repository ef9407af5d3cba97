import { z } from 'zod';

/** Tokens: so many at most that sums of them are exact. */
export const count = z.int().min(0).max(1e9);
/** Seconds or milliseconds: up to thirty years of the latter, and no NaN. */
export const duration = z.number().min(0).max(1e12);
/** Milliseconds or seconds since 1970, or since a trace began. */
export const time = z.number().min(0).max(1e14);

/** What a recording may lack, by leaving it out or by null. */
export const optional = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? undefined);

/** To the millisecond, as no recording is more exact. */
export const toMs = (seconds: number): number => Math.round(seconds * 1000);
