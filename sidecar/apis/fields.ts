import { GatewayError } from '../errors.js';
import type { JsonObject } from './api.js';

/** Refuses, as `invalid_body` with its path, only a field that the gateway cannot read: the engine judges the rest. */

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `value` if it is an object, else an empty one: reading a field of it then gives `undefined`. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The value of a JSON text; `undefined` for anything else. */
export function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '') as unknown;
  } catch {
    return undefined;
  }
}

export function parseObject(text: string | undefined): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** Whether an event is an error, of whatever API: engines mix their forms. */
export const isFailure = ({ type, error }: JsonObject): boolean =>
  type === 'error' || isObject(error) || (typeof error === 'string' && error !== '');

export const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

/** @param body that may lack the field; absent: the field is there */
export function invalid(param: string, expected: string, body?: JsonObject): GatewayError {
  const isMissing = body !== undefined && body[param] === undefined;
  return new GatewayError('invalid_body', `'${param}' ${isMissing ? 'is missing: it ' : ''}must be ${expected}.`, {
    param,
  });
}

export function readModel(body: JsonObject): string {
  const model = body['model'];
  if (typeof model !== 'string' || model.trim() === '') throw invalid('model', 'a non-empty string', body);
  return model;
}

export function readFlag(body: JsonObject, name: string): boolean {
  const value = body[name];
  if (isAbsent(value)) return false;
  if (typeof value !== 'boolean') throw invalid(name, 'a boolean');
  return value;
}

/** A whole number of at least `least`; `undefined` if the client left it out. */
export function readWhole(body: JsonObject, name: string, least: number): number | undefined {
  const value = body[name];
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least)
    throw invalid(name, `a whole number of at least ${least}`);
  return value;
}

/** A limit of tokens; -1 means no limit, a convention from llama.cpp. @throws GatewayError as `readWhole` */
export const readLimit = (body: JsonObject, name: string, least: number): number | undefined =>
  body[name] === -1 ? undefined : readWhole(body, name, least);

export function readOptionalString(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'string') throw invalid(name, 'a string');
  return value;
}

/** `messages`: objects with a role and a content of text, parts or nothing. Roles and part types are not checked. */
export function readMessages(body: JsonObject): readonly JsonObject[] {
  const messages = body['messages'];
  if (!Array.isArray(messages) || messages.length === 0) throw invalid('messages', 'a non-empty array', body);
  messages.forEach((message: unknown, i) => {
    if (!isObject(message)) throw invalid(`messages[${i}]`, 'an object');
    if (typeof message['role'] !== 'string') throw invalid(`messages[${i}].role`, 'a string');
    const { content } = message;
    if (!isAbsent(content) && typeof content !== 'string') checkContent(content, `messages[${i}].content`);
  });
  return messages as readonly JsonObject[];
}

export function checkContent(content: unknown, param: string): void {
  if (isAbsent(content) || typeof content === 'string') return;
  if (!Array.isArray(content)) throw invalid(param, 'a string or an array');
  content.forEach((part: unknown, i) => {
    if (typeof part !== 'string' && !isObject(part)) throw invalid(`${param}[${i}]`, 'an object');
  });
}

/** Number of prompts: one or several, each as text or as token ids. */
export function countPrompts(body: JsonObject): number {
  const value = body['prompt'];
  if (typeof value === 'string') return 1;
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item === 'number')) return 1;
    if (value.every((item) => typeof item === 'string')) return value.length;
    const lists = value.every((item) => Array.isArray(item) && item.every((token) => typeof token === 'number'));
    if (lists) return value.length;
  }
  throw invalid('prompt', 'a string, an array of strings, or token ids', body);
}

/** `stream_options`; only chat and completions have it. */
export function readStreamOptions(body: JsonObject): JsonObject {
  const options = body['stream_options'];
  if (isAbsent(options)) return {};
  if (!isObject(options)) throw invalid('stream_options', 'an object');
  return options;
}
