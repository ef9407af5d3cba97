import { z } from 'zod';

export const whole = z.int().min(0);
export const say = <T extends z.ZodType>(schema: T, description: string): T => schema.meta({ description });
export const seconds = z.number().min(0);
export const share = z.number().min(0).max(1);

/** A wall-clock time. */
export const time = z.number().meta({ description: 'Unix time in seconds, with fractions.' });
