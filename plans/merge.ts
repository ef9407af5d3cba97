import { PAUSE_STEPS, type Outline } from './graph.js';
import type { BatchLine } from './lines.js';
import { isReference, replaceInserts } from './references.js';

/**
 * Whether the same request gives the same answer: embeddings, and answers at temperature 0 or with a seed. Tools may have
 * effects.
 */
const isDeterministic = ({ url, body }: Pick<BatchLine, 'url' | 'body'>): boolean =>
  url.endsWith('/embeddings') ||
  ((body['temperature'] === 0 || typeof body['seed'] === 'number') && (body['tools'] ?? undefined) === undefined);

/**
 * A line’s request, with other lines named by their places in its needs, so that lines with equal needs and equal texts ask the
 * same. Undefined: its answer may differ each time, or it need not have one.
 */
export function requestOf(line: BatchLine): string | undefined {
  const { url, body, after, needs, each, condition } = line;
  if (each !== undefined || condition !== undefined || !isDeterministic(line)) return undefined;
  const placed = (_: string, value: unknown): unknown =>
    typeof value === 'string'
      ? replaceInserts(value, after, (id) => `\u0000${needs.indexOf(id)}\u0000`)
      : typeof value === 'object' && value !== null && isReference(value)
        ? ['\u0000', needs.indexOf(value.$ref), value.path]
        : value;
  return JSON.stringify([url, body], placed);
}

/**
 * For each line the first that asks the same, mostly the line itself: only that one need be asked (Helium's common
 * subexpressions). Requests are compared by their hashes, so whoever copies an answer compares the texts.
 * @param order each line after those that it needs
 */
export function* originalsOf(
  lines: readonly Outline[],
  needs: readonly (readonly number[])[],
  order: readonly number[],
): Generator<void, Uint32Array> {
  const originals = Uint32Array.from(lines, (_, index) => index);
  const firsts = new Map<string, number>();
  for (const [at, index] of order.entries()) {
    if (at % PAUSE_STEPS === 0) yield;
    const { request } = lines[index] ?? {};
    if (request === undefined) continue;
    const key = [request, ...(needs[index] ?? []).map((need) => originals[need])].join();
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, index);
    else originals[index] = first;
  }
  return originals;
}
