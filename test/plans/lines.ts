import {
  outlineOf,
  planOf,
  type BatchLine,
  type FaultyBatch,
  type Outline,
  type Plan,
  type Problem,
} from '../../plans/index.js';
import { parseLine } from '../../sidecar/batches/lines.js';

/** Lines of a batch's file, read and planned. */

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

export const asking = (url: string, body: object): string =>
  JSON.stringify({ custom_id: 'a', method: 'POST', url, body: { model: 'm', ...body } });

export function read(text: string, number = 1) {
  const found = parseLine(Buffer.from(text), number);
  return 'customId' in found ? found : found[0];
}
export const outlines = (...texts: string[]): Outline[] =>
  texts.map((text, index) => outlineOf(read(text, index + 1) as BatchLine, index + 1));

export function plan(lines: readonly Outline[], ...passes: Parameters<typeof planOf>[1][]): Plan {
  const steps = planOf(lines, ...passes);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export const planned = (...texts: string[]) => plan(outlines(...texts));

export function problemsIn(lines: readonly Outline[]): readonly Problem[] {
  try {
    plan(lines);
    return [];
  } catch (error) {
    return (error as FaultyBatch).problems;
  }
}

export const problems = (...texts: string[]) => problemsIn(outlines(...texts));
