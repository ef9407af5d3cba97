import { z } from 'zod';

export const DAY_MS = 86_400_000;
export const ms = (min: number, max: number) => z.number().min(min).max(max);
export const count = (min: number, max: number) => z.int().min(min).max(max);
export const name = z
  .string()
  .regex(/^[\w.:-]{1,128}$/, { error: 'must be 1 to 128 letters, digits or any of _ . : -' });

/** Text that may follow `Bearer` in a header. With a trailing newline, common in secret files, it would never match. */
export const bearer = z.string().refine((text) => /^[!-~]+$/.test(text), {
  error: 'must be printable ASCII, without spaces or a line end',
  abort: true,
});

/** Recurring texts for the source of a default. */
export const STARTING = 'starting value';
export const MEASURED = 'measured: lab/NOTEBOOK.md, “What the settings are worth”';
export const NONE = 'no default';

/** Text of a key in docs/CONFIG.md, besides its type. */
export interface KeyNote {
  readonly description: string;
  /** Source of the default. */
  readonly source: string;
  /** The default in words, if it depends on another key. */
  readonly default?: string;
  /** Present if a change takes effect only after a restart. */
  readonly restart?: true;
  /** Present if the value is never shown; it may be given as `env:NAME`. */
  readonly secret?: true;
}

/** The schema with its text for docs/CONFIG.md. */
export const note = <T extends z.ZodType>(schema: T, description: string, source: string, more: More = {}): T =>
  schema.meta({ description, source, ...more } satisfies KeyNote);

/** Of a key whose change takes effect only after a restart. */
export const fixed = <T extends z.ZodType>(schema: T, description: string, source: string, more: More = {}): T =>
  note(schema, description, source, { ...more, restart: true });

type More = Omit<KeyNote, 'description' | 'source'>;
