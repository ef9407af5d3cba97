import {
  outlineOf,
  parseLine,
  planOf,
  type BatchLine,
  type Outline,
  type Plan,
  type Problem,
} from '../../plans/index.js';

/** Lines of a batch's file, read and planned. */

const URLS = new Set(['/v1/chat/completions', '/v1/embeddings']);

interface Given {
  readonly after?: readonly string[];
  readonly content?: unknown;
  readonly body?: object;
}

export const line = (id: string, { after, content = 'hello', body = {} }: Given = {}): string =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content }], ...body },
    ...(after && { after }),
  });

export const read = (text: string, number = 1) => parseLine(text, number, URLS);
export const outlines = (...texts: string[]): Outline[] =>
  texts.map((text, index) => outlineOf(read(text, index + 1) as BatchLine, index + 1));

export function plan(lines: readonly Outline[]): Plan | readonly Problem[] {
  const steps = planOf(lines);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export const planned = (...texts: string[]) => plan(outlines(...texts)) as Plan;
export const problems = (...texts: string[]) => plan(outlines(...texts)) as readonly Problem[];
