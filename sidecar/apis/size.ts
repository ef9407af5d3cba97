import type { JsonObject } from './api.js';
import { KnownItem } from './known-item.js';

/**
 * Bytes of a prompt, for the token estimate. It counts the UTF-8 length of every string and key, and four bytes for a
 * token id. Embedded media count a fixed sum, because an image costs an engine about as many tokens whatever its
 * encoded size. Iterative, so that a deeply nested body cannot exhaust the stack; linear in the size of the body.
 */
const MEDIA_BYTES = 4096;
const NUMBER_BYTES = 4;
/** Fields that hold base64 text when they are longer than any prose in them would be. */
const MEDIA_FIELDS: ReadonlySet<string> = new Set(['data', 'file_data', 'url', 'image_url']);
const MEDIA_CHARS_MIN = 1024;

export function promptBytes(...roots: readonly unknown[]): number {
  let bytes = 0;
  const left: unknown[] = [...roots];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') bytes += Buffer.byteLength(value);
    else if (typeof value === 'number') bytes += NUMBER_BYTES;
    else if (value instanceof KnownItem) bytes += value.outline.promptBytes;
    else if (Array.isArray(value)) for (const item of value as unknown[]) left.push(item);
    else if (typeof value === 'object' && value !== null) {
      for (const key of Object.keys(value)) {
        const field = (value as JsonObject)[key];
        bytes += key.length;
        if (typeof field !== 'string') left.push(field);
        else if (field.length >= MEDIA_CHARS_MIN && MEDIA_FIELDS.has(key)) bytes += MEDIA_BYTES;
        else bytes += Buffer.byteLength(field);
      }
    }
  }
  return bytes;
}
