import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { KnownItem, type Api, type CanonicalMessage, type JsonObject, type RequestFacts } from '../apis/index.js';
import { parseObject } from '../apis/fields.js';
import type { Beginning } from './beginnings.js';
import { readOpening, type Opening } from './family.js';
import { parseJsonBody } from '../http/body.js';

export interface ReadBody {
  /** The original bytes, without a byte-order mark. */
  readonly raw: Buffer;
  /** Its fields; only the small ones if the thread read the body. */
  readonly body: JsonObject;
  /** Names of all fields. */
  readonly keys: ReadonlySet<string>;
  readonly facts: RequestFacts;
  readonly opening: Opening | undefined;
  /** Hash of the bytes, where reading has taken it. */
  readonly hash?: string;
}

/** The same, as data that a thread can send. */
export interface SentBody extends Omit<ReadBody, 'raw' | 'facts'> {
  readonly facts: Omit<RequestFacts, 'conversation'>;
  readonly messages: readonly CanonicalMessage[];
}

/** @throws GatewayError as `parseJsonBody` and `readRequest` */
export function readBodyOf(api: Api, bytes: Buffer): ReadBody {
  const { raw, body } = parseJsonBody(bytes);
  return readParsed(api, raw, body);
}

function readParsed(api: Api, raw: Buffer, body: JsonObject): ReadBody {
  const facts = api.readRequest(body);
  return { raw, body, keys: new Set(Object.keys(body)), facts, opening: readOpening(facts.model, body) };
}

const COMMA = 0x2c;
const OPEN = 0x7b;
const CLOSE = 0x5d;
const SPACES: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Reads what follows a known beginning.
 * @returns undefined if the body must be read as a whole, such as for its errors
 * @throws GatewayError as `readRequest`
 */
export function readRest(api: Api, raw: Buffer, { field, start, items }: Beginning): ReadBody | undefined {
  const end = items.at(-1)?.end ?? 0;
  if (!isUtf8(raw.subarray(end))) return undefined;
  let rest = afterSpaces(raw, end);
  if (raw[rest] === COMMA) {
    rest = afterSpaces(raw, rest + 1);
    if (raw[rest] !== OPEN) return undefined;
  } else if (raw[rest] !== CLOSE) return undefined;
  const body = parseObject(raw.toString('utf8', 0, start) + raw.toString('utf8', rest));
  const further = body?.[field];
  if (!body || !Array.isArray(further)) return undefined;
  const known = items.map((item) => new KnownItem(item, raw));
  return readParsed(api, raw, Object.assign(body, { [field]: [...known, ...(further as unknown[])] }));
}

function afterSpaces(raw: Buffer, from: number): number {
  let at = from;
  while (SPACES.has(raw[at])) at++;
  return at;
}

/** A longer conversation is not matched, because matching would block other calls. */
const MESSAGES_MAX = 10_000;
const CHARS_MAX = 8_388_608;
/** Characters kept of a content that is too long to send, such as a picture; its hash stands for the rest. */
const HEAD_CHARS = 4096;
/** Longest field that is sent whole, such as ids and options. */
const FIELD_CHARS_MAX = 4096;
/** Fields that make up the prompt; `facts` already holds their relevant parts. */
const PROMPT_FIELDS = new Set(['messages', 'input', 'prompt', 'tools', 'functions', 'system', 'instructions']);

function isSmall(value: unknown): boolean {
  const { length } = typeof value === 'string' ? value : JSON.stringify(value);
  return length <= FIELD_CHARS_MAX;
}

/**
 * @param contentCharsMax longest message content that is sent whole. It must be at least the largest body read outside
 * the thread; otherwise the same message would differ from call to call.
 */
export function toSent({ body, keys, facts, opening }: ReadBody, hash: string, contentCharsMax: number): SentBody {
  const messages = facts.conversation().map((turn) => shortened(turn.read(), contentCharsMax));
  const chars = messages.reduce((sum, { content }) => sum + content.length, 0);
  const isMatched = messages.length <= MESSAGES_MAX && chars <= CHARS_MAX;
  const small = Object.entries(body).filter(([name, value]) => !PROMPT_FIELDS.has(name) && isSmall(value));
  return {
    body: Object.fromEntries(small),
    keys,
    facts: Object.assign({}, facts, { conversation: undefined }),
    messages: isMatched ? messages : [],
    opening,
    hash,
  };
}

function shortened(message: CanonicalMessage, charsMax: number): CanonicalMessage {
  const { content } = message;
  if (content.length <= charsMax) return message;
  return { ...message, content: `${content.slice(0, HEAD_CHARS)}\u0000${hash('sha256', content, 'base64')}` };
}

export function fromSent({ facts, messages, ...sent }: SentBody, raw: Buffer): ReadBody {
  const turns = messages.map((message) => ({ role: message.role, read: () => message }));
  return { ...sent, raw, facts: { ...facts, conversation: () => turns } };
}
