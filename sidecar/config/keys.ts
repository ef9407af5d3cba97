import { z } from 'zod';
import type { KeyNote } from './note.js';
import { configKeys } from './schema.js';

/** One key of the configuration, for the documentation, the environment and redaction. */
export interface ConfigKey {
  /** `limits.bodyBytes`; `engines[].url` inside a list. */
  readonly path: string;
  /** The path's parts; `[]` stands for every element of a list. */
  readonly segments: readonly string[];
  readonly schema: z.ZodType;
  readonly note: KeyNote;
  /** Variable that sets the key. Undefined: only the file can set it. */
  readonly env?: string;
}

/** Every key, in the order of the schema. */
export const CONFIG_KEYS: readonly ConfigKey[] = [...walk(configKeys, [])];

export const SECRET_KEYS: readonly ConfigKey[] = CONFIG_KEYS.filter((key) => key.note.secret);

function* walk(schema: z.ZodType, segments: readonly string[]): Generator<ConfigKey> {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) {
    const shape = inner.shape as Readonly<Record<string, z.ZodType>>;
    for (const [name, child] of Object.entries(shape)) yield* walk(child, [...segments, name]);
    return;
  }
  yield describe(schema, segments);
  if (inner instanceof z.ZodArray && inner.element instanceof z.ZodObject)
    yield* walk(inner.element, [...segments, '[]']);
}

function describe(schema: z.ZodType, segments: readonly string[]): ConfigKey {
  const path = segments.join('.').replaceAll('.[]', '[]');
  const note = schema.meta() as KeyNote | undefined;
  if (note === undefined) throw new Error(`${path} has no note`);
  // Elements of a list have no variable, and neither keys with tenants, sources nor a mapping fit a list of words.
  const isOnlyInFile =
    segments.includes('[]') || ['auth.keys', 'discovery'].includes(path) || unwrap(schema) instanceof z.ZodRecord;
  const env = `MAITRED_${segments.join('_').replace(/[A-Z]/g, '_$&').toUpperCase()}`;
  return { path, segments, schema, note, ...(!isOnlyInFile && { env }) };
}

/** The schema without its defaults and transforms. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodNullable
  )
    return unwrap(schema.unwrap());
  return schema instanceof z.ZodPipe ? unwrap(schema.in) : schema;
}
