import type { JsonObject } from './api.js';
import { isObject, listOf } from './fields.js';

/** Facts of a conversation's item that are known without parsing it. */
export interface Outline {
  readonly role: unknown;
  readonly type: unknown;
  /** As `promptBytes` counts them. */
  readonly promptBytes: number;
  /** Its place in the bytes of its body. */
  readonly start: number;
  readonly end: number;
}

/** An item that an earlier body began with too, in place of its parsed object; parsed only if its content is needed. */
export class KnownItem {
  readonly [field: string]: unknown;
  readonly role: unknown;
  readonly type: unknown;

  constructor(
    readonly outline: Outline,
    private readonly raw: Buffer,
  ) {
    // Not getters: a loop over known and new messages alike would call each.
    this.role = outline.role;
    this.type = outline.type;
  }

  toJSON(): JsonObject {
    return JSON.parse(this.raw.toString('utf8', this.outline.start, this.outline.end)) as JsonObject;
  }
}

/** The item with its content. */
export const whole = (item: JsonObject): JsonObject => (item instanceof KnownItem ? item.toJSON() : item);

/** An image costs an engine about as many tokens whatever its encoded size. */
const MEDIA_BYTES = 4096;
const NUMBER_BYTES = 4;
/** Fields that hold base64 text when they are longer than any prose in them would be. */
const MEDIA_FIELDS: ReadonlySet<string> = new Set(['data', 'file_data', 'url', 'image_url']);
const MEDIA_CHARS_MIN = 1024;

/**
 * Bytes of a prompt, for the token estimate: the UTF-8 length of every string and key, four for a token id, and a fixed
 * sum for media. Iterative, so that a deeply nested body cannot exhaust the stack; linear in the size of the body.
 */
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

/** Roles of the messages that an application puts before the conversation. */
const OWN_ROLES: ReadonlySet<unknown> = new Set(['system', 'developer']);
/** A prompt given as one text has no parts. Programs that share this many leading characters count as one family. */
const TEXT_CHARS = 8192;
const TEXT_TOKEN_IDS = 2048;

/** The beginning of all prompts of an application: tools, and instructions or the start of a long plain text. */
export function openingOf(body: JsonObject) {
  const { system, instructions, tools, functions, prompt } = body;
  if (prompt !== undefined) return { tools: [], words: openingOfText(prompt) };
  const turns = listOf(body['messages'] ?? body['input']);
  const first = turns.findIndex((turn) => !isObject(turn) || !OWN_ROLES.has(turn['role']));
  const own = turns.slice(0, first < 0 ? turns.length : first);
  const present = (parts: readonly unknown[]) => parts.filter((part) => part !== undefined && part !== null);
  return { tools: present([tools, functions]), words: present([system, instructions, ...own]) };
}

function openingOfText(prompt: unknown): unknown[] {
  if (typeof prompt === 'string') return prompt.length > TEXT_CHARS ? [prompt.slice(0, TEXT_CHARS)] : [];
  if (!Array.isArray(prompt) || typeof prompt[0] !== 'number') return [];
  return prompt.length > TEXT_TOKEN_IDS ? [prompt.slice(0, TEXT_TOKEN_IDS)] : [];
}
