import type { JsonObject } from './api.js';
import { isObject, listOf } from './fields.js';

/** Roles of the messages that an application puts before the conversation. */
const OWN_ROLES: ReadonlySet<unknown> = new Set(['system', 'developer']);
/**
 * A prompt given as one text has no parts. Programs whose texts share this many leading characters count as one family.
 */
const TEXT_CHARS = 8192;
const TEXT_TOKEN_IDS = 2048;

/** The beginning of every prompt of an application: tool schemas, and instructions or the first part of a plain text. */
export interface OpeningParts {
  readonly tools: readonly unknown[];
  readonly words: readonly unknown[];
}

/** Without any parts if a plain text is too short to tell. */
export function openingOf(body: JsonObject): OpeningParts {
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
