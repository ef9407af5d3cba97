import { similarTo } from '../config/index.js';
import { GatewayError } from '../errors.js';
import { invalidPath, readingsOf, splitTarget, withoutExtraSlashes } from '../http/target.js';

/** Paths that compute an answer from their request alone, on any replica, and change nothing. */
const PURE_PATHS = ['/tokenize', '/detokenize', '/rerank', '/score', '/pooling', '/classify'];

/** Paths of engines outside `/v1` that clients may request; no other path outside it is passed on. */
export const ENGINE_PATHS = [...PURE_PATHS, '/v2/rerank', '/v2/embed', '/apply-template', '/infill'];

/**
 * Paths below `/v1` that clients may request. Other paths of vLLM, SGLang, llama.cpp and TensorRT-LLM there change an
 * engine (adapters, sleep, weights, caches), keep state without a tenant (files, batches, conversations), or bypass the
 * queues (`completions/batch`).
 */
const CLIENT_PATHS = [
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
  '/v1/audio/speech',
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/images/variations',
  '/v1/moderations',
  '/v1/reranking',
  ...PURE_PATHS.map((path) => `/v1${path}`),
];

type Matcher = (path: string) => boolean;

/** @param patterns in the router's notation @param flags `i` for our own paths, because engines may ignore case */
export function matcherOf(patterns: readonly string[], flags = ''): Matcher {
  const escaped = patterns.map((pattern) => pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  const source = escaped.map((pattern) => pattern.replace(/:[^/]+/g, '[^/]+').replace(/\*$/, '.*')).join('|');
  const pattern = new RegExp(`^(?:${source})$`, flags);
  return (path) => pattern.test(path);
}

/**
 * The target for an engine. All readings of its path must be permitted, and none a handler's: it would bypass queues.
 * @param own paths with a handler, in the router's notation, to suggest
 * @throws GatewayError `invalid_path`, `path_not_allowed`, `unknown_path`
 */
export function passableTarget(
  url: string,
  isOwn: Matcher,
  own: readonly string[],
  permitted: readonly string[],
): string {
  const { path, search } = splitTarget(url);
  const isPermitted = matcherOf([...ENGINE_PATHS, ...CLIENT_PATHS, ...permitted]);
  for (const reading of readingsOf(path)) {
    if (isOwn(reading)) throw invalidPath();
    if (!isPermitted(reading)) throw refusalOf(path, own);
  }
  return withoutExtraSlashes(path) + search;
}

/** A path for clients without parameters. */
const CLIENT_PATH = /^\/v1\/[^:*]+$/;
const belowBase = (path: string) => path.replace(/^\/v1\//, '');

/** A mistyped path is not there; any other may be an engine's, and is refused. */
function refusalOf(path: string, own: readonly string[]): GatewayError {
  const refused = (hint: string) =>
    new GatewayError('path_not_allowed', `This path is not passed on to engines. ${hint}`);
  const unknown = (hint: string) => new GatewayError('unknown_path', `There is no such path. ${hint}`);
  if (path.startsWith('/v1/v1/')) return unknown('The base URL has /v1 twice.');
  if (/^\/v1\/(?:files|batches)(?:\/|$)/.test(path))
    return refused('The gateway answers it itself once its operator sets batches.folder.');
  const known = [...own, ...CLIENT_PATHS].filter((each) => CLIENT_PATH.test(each)).map(belowBase);
  const meant = similarTo(belowBase(path), known);
  if (meant !== undefined) return unknown(`Did you mean /v1/${meant}?`);
  return refused('The gateway’s operator can permit it: passthrough.paths.');
}

/** Target of a request whose first segments lead to the engine that may see it. @throws GatewayError `invalid_path` */
export function plainTarget(url: string): string {
  const { path, search } = splitTarget(url);
  readingsOf(path);
  return withoutExtraSlashes(path) + search;
}
