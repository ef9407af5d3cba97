import { z } from 'zod';
import { didYouMean } from './similar.js';

export const DAY_MS = 86_400_000;
export const ms = (min: number, max = DAY_MS) => z.number().min(min).max(max);
export const count = (min: number, max: number) => z.int().min(min).max(max);
export const textOrNull = z.string().min(1).nullable().default(null);
export const name = z.string().regex(/^[\w.:-]{1,128}$/, 'must be 1 to 128 letters, digits or any of _ . : -');

/** Text that may follow `Bearer` in a header. With a trailing newline, common in secret files, it would never match. */
export const bearer = z
  .string()
  .refine((text) => /^[!-~]+$/.test(text), {
    error: 'must be printable ASCII, without spaces or a line end',
    abort: true,
  })
  .refine((text) => !/^\$(\w+|\{\w+\})$/.test(text), {
    error: 'must be env:NAME to name a variable, as $NAME is taken as it is written',
    abort: true,
  });

/** Fewest characters of an admin token. */
export const TOKEN_CHARS_MIN = 8;
export const MAKE_TOKEN = 'openssl rand -hex 16';
export const MAKE_HASH = 'printf %s "$KEY" | sha256sum';

const PLAIN_URL = 'must be an http:// or https:// URL without user, query or fragment';
/** A comma before the path, or before a scheme. */
const SEVERAL = /^(https?:\/\/)?[^/]*,|,\s*https?:\/\//i;

/** Credentials in a URL would appear in logs and metrics. A query cannot stand before the path of a call. */
export function isBareUrl(text: string): boolean {
  if (!URL.canParse(text) || SEVERAL.test(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return username + password + search + hash === '';
}

export const plainUrl = z.string().refine((text) => /^https?:\/\//i.test(text) && isBareUrl(text), {
  error: ({ input }) => {
    const text = String(input);
    if (SEVERAL.test(text)) return 'must be one URL: give several each on its own, not with commas';
    // A host, with or without a port, is a URL but for its beginning.
    if (/^[\w.-]+(:\d+)?(\/v1)?\/?$/.test(text)) return `${PLAIN_URL}: did you mean http://${text}?`;
    const isBroken = /^https?:\/\//i.test(text) && !URL.canParse(text);
    if (isBroken) return 'must be one URL, with a port up to 65535, and [ ] around an IPv6 address';
    const scheme = /^(\w+):\/\//.exec(text)?.[1] ?? '';
    return PLAIN_URL + (/^https?$/i.test(scheme) ? '' : didYouMean(scheme, ['http', 'https']));
  },
  abort: true,
});

export const MEASURED = 'measured: lab/NOTEBOOK.md, “What the settings are worth”';

/** Text of a key in docs/CONFIG.md, besides its type. */
export interface KeyNote {
  readonly description: string;
  /** Source of the default; '': it is a starting value, or there is none. */
  readonly source: string;
  /** The default in words, if it depends on another key. */
  readonly default?: string;
  /** Present if a change takes effect only after a restart. */
  readonly restart?: true;
  /** Present if the value is never shown; it may be given as `env:NAME`. */
  readonly secret?: true;
}

/** The source of a default, or whatever else a key has. */
type More = string | Partial<Omit<KeyNote, 'description'>>;

/** The schema with its text for docs/CONFIG.md. */
export const note = <T extends z.ZodType>(schema: T, description: string, more: More = ''): T =>
  schema.meta({ description, source: '', ...detail(more) } satisfies KeyNote);

/** Of a key whose change takes effect only after a restart. */
export const fixed = <T extends z.ZodType>(schema: T, description: string, more: More = ''): T =>
  note(schema, description, { ...detail(more), restart: true });

/** Of a key whose default depends on others. @param otherwise the default in words */
export const derived = <T extends z.ZodType>(schema: T, description: string, otherwise: string) =>
  note(schema.optional(), description, { default: otherwise });

const detail = (more: More) => (typeof more === 'string' ? { source: more } : more);
