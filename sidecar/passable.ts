import { GatewayError } from './errors.js';
import { invalidPath, readingsOf, splitTarget, withoutExtraSlashes } from './http/target.js';

/** Paths of engines outside `/v1` that clients may ask; no other path outside it is passed on. */
export const ENGINE_PATHS = [
  '/tokenize',
  '/detokenize',
  '/rerank',
  '/v2/rerank',
  '/v2/embed',
  '/score',
  '/pooling',
  '/classify',
  '/apply-template',
  '/infill',
];

/**
 * Paths below `/v1` that clients may ask: each computes an answer from its request, on any replica, and changes nothing.
 * What vLLM, SGLang, llama.cpp and TensorRT-LLM serve there besides either changes an engine (adapters, sleep, weights,
 * caches), keeps state that no tenant owns (files, batches, conversations), or goes round the queues (`completions/batch`).
 */
const CLIENT_PATHS = [
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
  '/v1/audio/speech',
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/images/variations',
  '/v1/moderations',
  '/v1/rerank',
  '/v1/reranking',
  '/v1/score',
  '/v1/pooling',
  '/v1/classify',
  '/v1/tokenize',
  '/v1/detokenize',
];

/** Whether one of the patterns, a path or the beginning of one with `*` behind it, is the path's. */
export type Matcher = (path: string) => boolean;

/** @param patterns in the router's notation. Engines may not tell upper from lower case, so our own paths are told in any. */
export function matcherOf(patterns: readonly string[], flags = ''): Matcher {
  const escaped = patterns.map((pattern) => pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  const source = escaped.map((pattern) => pattern.replace(/:[^/]+/g, '[^/]+').replace(/\*$/, '.*')).join('|');
  const pattern = new RegExp(`^(?:${source})$`, flags);
  return (path) => pattern.test(path);
}

/**
 * The target as it goes to an engine. What an engine might read its path as must all be permitted, and none of it a path
 * that has a handler of its own here: that would go round queues and tenants.
 * @throws GatewayError `invalid_path`, `path_not_allowed`
 */
export function passableTarget(url: string, isOwn: Matcher, permitted: readonly string[]): string {
  const { path, search } = splitTarget(url);
  const isPermitted = matcherOf([...ENGINE_PATHS, ...CLIENT_PATHS, ...permitted]);
  for (const reading of readingsOf(path)) {
    if (isOwn(reading)) throw invalidPath();
    if (!isPermitted(reading)) {
      throw new GatewayError(
        'path_not_allowed',
        'This path is not passed on to engines. The gateway’s operator can permit it: passthrough.paths.',
      );
    }
  }
  return withoutExtraSlashes(path) + search;
}

/**
 * The target of something that is led by its first segments to the one engine that may see it.
 * @throws GatewayError `invalid_path`
 */
export function plainTarget(url: string): string {
  const { path, search } = splitTarget(url);
  readingsOf(path);
  return withoutExtraSlashes(path) + search;
}
