import type { CanonicalMessage, JsonObject, Turn } from './api.js';
import { isObject, listOf, parseJson, stringOf } from './fields.js';

/*
 * The canonical form of a message: equal for an answer from an engine and for the client's copy of it. Clients drop
 * reasoning, ids, refusals, annotations and cache hints. They turn strings into parts and parts into strings, trim the
 * text, and re-print tool arguments. The canonical form hides all of these changes. Messages that an engine would read
 * differently have different forms.
 */

export interface Call {
  readonly name: string;
  /** JSON text, as from OpenAI, or the value itself, as from Anthropic. */
  readonly arguments: unknown;
  /** The id that its result will name; '' for none. */
  readonly id: string;
}

/** Content of a message, in the order of reading. */
export interface Said {
  readonly text: string[];
  readonly calls: Call[];
}

export const nothingSaid = (): Said => ({ text: [], calls: [] });

/** Deeper than any tool's arguments; a limit keeps a crafted body from exhausting the stack. */
const DEPTH_MAX = 64;
/** Parts that a client may leave out when it sends the answer back. */
const DROPPED = new Set<unknown>(['thinking', 'redacted_thinking', 'reasoning', 'reasoning_text', 'refusal']);
/** Fields of a part that differ between the answer and the client's copy, or change from call to call. */
const VOLATILE: ReadonlySet<string> = new Set(['id', 'call_id', 'tool_use_id', 'status', 'cache_control']);

export function canonicalMessage(role: string, said: Said): CanonicalMessage {
  const text = said.text.length === 1 ? (said.text[0] ?? '') : said.text.join('');
  let content = (role === 'assistant' ? withoutThinking(text).replaceAll('\u0000', '') : text).trim();
  if (said.calls.length === 0) return { role, content };
  let callIds = '';
  for (const { name, arguments: given, id } of said.calls) {
    content += `\u0000${name}\u0000${canonicalArguments(given)}`;
    if (id !== '') callIds += callIds === '' ? id : `\u0000${id}`;
  }
  return callIds === '' ? { role, content } : { role, content, callIds };
}

export const asksForTools = ({ content }: CanonicalMessage): boolean => content.includes('\u0000');

/** A message that is read on demand. A class, as calls have hundreds of them: closures take three times the memory. */
export class LazyTurn<T> implements Turn {
  constructor(
    readonly role: string,
    private readonly given: T,
    private readonly reader: (given: T, role: string) => CanonicalMessage,
  ) {}

  read(): CanonicalMessage {
    return this.reader(this.given, this.role);
  }
}

/** Appends a message's content, text or parts of any API, to `said`. */
export function readContent(content: unknown, said: Said, depth = 0): void {
  if (typeof content === 'string') {
    said.text.push(content);
    return;
  }
  for (const part of listOf(content)) {
    if (typeof part === 'string') said.text.push(part);
    else if (isObject(part) && !DROPPED.has(part['type'])) readPart(part, said, depth);
  }
}

function readPart(part: JsonObject, said: Said, depth: number): void {
  if (part['type'] === 'tool_use') {
    said.calls.push({ name: stringOf(part['name']), arguments: part['input'], id: stringOf(part['id']) });
  } else if (part['type'] === 'tool_result' && depth < DEPTH_MAX) {
    said.text.push('\u0000result\u0000');
    readContent(part['content'], said, depth + 1);
  } else if (typeof part['text'] === 'string') {
    said.text.push(part['text']);
  } else {
    said.text.push(canonicalPart(part));
  }
}

/** A part or item without its own form here: an image, a search call, or any future kind. */
export const canonicalPart = (part: JsonObject): string =>
  canonicalJson(Object.fromEntries(Object.entries(part).filter(([key]) => !VOLATILE.has(key))));

/** Servers without a reasoning parser leave the model's reasoning in the text, and clients cut it off. */
function withoutThinking(text: string): string {
  const end = text.lastIndexOf('</think>');
  return end < 0 ? text : text.slice(end + '</think>'.length);
}

function canonicalArguments(value: unknown): string {
  if (typeof value !== 'string') return canonicalJson(value ?? {});
  const text = value.trim();
  if (text === '') return '{}';
  const parsed = parseJson(text);
  return parsed === undefined ? text : canonicalJson(parsed);
}

/** JSON with sorted keys and no spaces, because clients in other languages order keys differently. */
function canonicalJson(value: unknown, depth = 0): string {
  if (depth > DEPTH_MAX) return '"…"';
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, depth + 1)).join()}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key], depth + 1)}`);
  return `{${fields.join()}}`;
}
