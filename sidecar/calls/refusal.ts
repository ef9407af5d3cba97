import type { IncomingHttpHeaders } from 'node:http';
import type { Api, JsonObject } from '../apis/api.js';
import { isObject, listOf, objectOf, parseObject } from '../apis/fields.js';
import { SCHEDULED } from '../apis/index.js';
import { ADAPTERS } from '../engines/adapters.js';
import type { Engine } from '../engines/index.js';
import { GatewayError, type ErrorCode } from '../errors.js';
import { JSON_TYPE } from '../http/headers.js';

/** Error codes and types that APIs use when one key or account exceeds its limits. */
const OF_CALLER = /quota|billing|credit|rate.?limit|(requests|tokens)_per_/i;
/** How vLLM, SGLang, llama.cpp, TensorRT-LLM and services refuse a prompt as too long, by itself or with its answer. Few name it. */
const TOO_LONG =
  /context_length_exceeded|exceed_context_size|maximum context length|exceeds the available context|longer than the model.s context|exceeds the maximum allowed length|prompt length .*exceed|prompt is too long/i;
const QUOTE_MAX = 300;
/** Faults of an engine to look at. */
const FAULTS_MAX = 20;
const SECRET_CHARS_MIN = 8;

/** Parts of an engine's message to redact: addresses, and texts that look like keys. */
const SECRETS = [
  /\b[a-z][a-z\d+.-]*:\/\/\S+/gi,
  /\b(?:bearer|basic)\s+\S+/gi,
  /\b(?:sk|pk|hf|key|api[-_]?key|token)[-_=:]\s*\S{6,}/gi,
  /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?/g,
  /\b[\w.-]+:\d{2,5}\b/g,
];

/** Where a stack begins: a frame of JavaScript or Java, of Python, or of native code. */
const STACK = /\s+(?:at \S+ ?\(|at \S+:\d+|File "|Traceback \(|#\d+ 0x)/;
/** Paths of files, with line and column. */
const PATHS = /(?<![\w.])(?:[a-z]:)?(?:[\\/][\w.@+~-]+){2,}(?::\d+)*/gi;

/** Paths at engines that are the same everywhere, so that they give nothing away. */
const ASKED = new Set([...SCHEDULED.keys(), ...Object.values(ADAPTERS).map(({ healthPath }) => healthPath)]);

/** Whether a 429 names, by its code or type, a limit of the caller rather than a lack of room in the engine. */
export function isOfCaller(body: Buffer): boolean {
  const error = errorIn(body);
  return [error?.['code'], error?.['type']].some((name) => typeof name === 'string' && OF_CALLER.test(name));
}

const CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  413: 'body_too_large',
  429: 'overloaded',
  503: 'no_engine',
  529: 'no_engine',
};

/** A request to an engine, where the path is known, and texts that its words must not tell. */
interface Asked {
  readonly path?: string;
  readonly secrets?: readonly string[];
  /** Whether the reader has the answer itself, so that nothing of it is redacted. */
  readonly isTold?: boolean;
}

/** An engine's refusal as an error of ours, with its words and names: clients retry or shorten their history by them. */
export function refusalOf(status: number, body: Buffer, { path, secrets, isTold = false }: Asked): GatewayError {
  const said = (value: unknown) => (isTold ? shortened(value) : redacted(value, secrets));
  const words = said(wordsIn(body));
  // All that FastAPI says, so vLLM and SGLang.
  if (status === 404 && words === 'Not Found')
    return new GatewayError('unknown_path', `The engine has no ${path === undefined ? 'such path' : `path ${path}`}.`, {
      status,
    });
  const error = errorIn(body);
  const [type, code, param] = ['type', 'code', 'param'].map((field) => said(error?.[field]));
  const hasMessage = typeof error?.['message'] === 'string' && words !== '';
  const isTooLong = status < 500 && status !== 429 && TOO_LONG.test(`${words} ${type} ${code}`);
  const ours = isTooLong
    ? 'context_length_exceeded'
    : (CODES[status] ?? (status < 500 ? 'bad_request' : 'engine_failed'));
  const theirs = isTooLong ? ours : code;
  return new GatewayError(ours, hasMessage ? words : saysOf(status, words), {
    status,
    names: { ...(type && { type }), ...(theirs && { code: theirs }), ...(param && { param }) },
  });
}

/** The failure of an engine that another attempt may not meet. */
export const failureOf = (status: number, body: Buffer, { secrets }: Asked): GatewayError =>
  new GatewayError('engine_failed', saysOf(status, redacted(wordsIn(body), secrets)));

/** Another attempt would produce one that is too large again. */
export const tooLarge = (bytesMax: number): GatewayError =>
  new GatewayError('engine_answer_too_large', `The engine’s answer is over ${bytesMax} bytes.`);

const saysOf = (status: number, words: string): string =>
  `The engine ${status < 400 ? 'failed' : `answered with status ${status}`}${words === '' ? '.' : `: ${words}`}`;

/** Headers that told of the engine's bytes. */
const OF_BYTES = ['content-encoding', 'content-language', 'content-digest', 'digest', 'etag'];
const REWRITTEN = { ...JSON_TYPE, ...Object.fromEntries(OF_BYTES.map((name) => [name, undefined])) };

/** A refusal for clients of an API, and what replaces the engine's headers: its bytes go out if they have that form and a name for it. */
export function refusalFor(api: Api, body: Buffer, refusal: GatewayError, requestId: string) {
  if (refusal.code !== 'context_length_exceeded' && api.isError(parseObject(body.toString('utf8')) ?? {}))
    return { bytes: body, changes: {} };
  return { bytes: Buffer.from(JSON.stringify(api.errorBody(refusal, requestId))), changes: REWRITTEN };
}

/** Where engines put the words of an error; of a page of HTML its title alone, as the rest tells about their insides. */
function wordsIn(body: Buffer): unknown {
  const error = errorIn(body);
  if (error === undefined) {
    const text = body.toString('utf8');
    return /<title>([^<]*)/i.exec(text)?.[1] ?? (/^\s*[<{[]/.test(text) ? '' : text);
  }
  const { message, detail } = error;
  if (!Array.isArray(detail)) return message ?? error['error'] ?? detail;
  // FastAPI's faults of fields, or texts.
  const faults = detail.slice(0, FAULTS_MAX).map((fault: unknown) => {
    const { loc, msg = fault } = objectOf(fault);
    return [listOf(loc).filter(isWord).join('.'), msg].filter((part) => isWord(part) && part !== '').join(': ');
  });
  return message ?? faults.filter((text) => text !== '').join('; ');
}

/** Whether it can be a part of a text: an engine's object may lack a form as text. */
const isWord = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';

/** A text, if it is one, as clients may read it: short, without addresses, keys, stacks and paths. @param secrets further texts to redact */
export function redacted(value: unknown, secrets: readonly string[] = []): string {
  // Cut first: the patterns below take quadratic time, and clients may have written the text.
  let text = typeof value === 'string' ? value.slice(0, 4 * QUOTE_MAX) : '';
  text = text.slice(0, text.search(STACK) >>> 0);
  for (const secret of secrets) text = text.replaceAll(secret, '[...]');
  for (const secret of SECRETS) text = text.replaceAll(secret, '[...]');
  return shortened(text.replaceAll(PATHS, (path) => (ASKED.has(path) ? path : '[...]')));
}

const shortened = (value: unknown): string =>
  typeof value === 'string' ? value.replaceAll(/\s+/g, ' ').trim().slice(0, QUOTE_MAX) : '';

/** Texts that an engine's words must not tell a client: its address and all keys. */
export function secretsOf({ config, url }: Pick<Engine, 'config' | 'url'>, headers: IncomingHttpHeaders): string[] {
  const given = [headers.authorization, headers['x-api-key']].map((value) =>
    String(value ?? '').replace(/^\S+\s+/, ''),
  );
  // Shorter ones (`none`) are parts of words.
  const keys = [config.apiKey ?? '', ...given].filter(({ length }) => length >= SECRET_CHARS_MIN);
  return [url.host, url.hostname, ...keys];
}

/** OpenAI and Anthropic nest the error, FastAPI's servers may, and failed responses; others have its fields at the top. */
function errorIn(body: Buffer): JsonObject | undefined {
  const answer = parseObject(body.toString('utf8'));
  return [answer?.['error'], answer?.['detail'], objectOf(answer?.['response'])['error']].find(isObject) ?? answer;
}
