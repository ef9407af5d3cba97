import { tokens } from '../../src/index.js';
import { parseObject } from '../apis/fields.js';
import type { EngineAdapter } from './adapter.js';
import { asCount, sum } from './load.js';

const NANOS_PER_MILLI = 1e6;
const LATEST = ':latest';

/** Ollama. It reports neither load nor cache size. Times and counts appear only in answers of its own API. */
export const ollama: EngineAdapter = {
  kind: 'ollama',
  healthPath: '/api/version',
  async recognise(get) {
    if (((await get('/')) ?? '').startsWith('Ollama is running')) return true;
    return typeof parseObject(await get('/api/version'))?.['version'] === 'string';
  },
  readLoad: () => Promise.resolve({}),
  aliases: (model) => (model.endsWith(LATEST) ? [model.slice(0, -LATEST.length)] : []),
  readTimings(answer) {
    const nanos = sum([asCount(answer['prompt_eval_duration']), asCount(answer['eval_duration'])]);
    return nanos === undefined ? {} : { serviceMs: nanos / NANOS_PER_MILLI };
  },
  readUsage(answer) {
    const output = asCount(answer['eval_count']);
    if (output === undefined) return undefined;
    // A fully cached prompt has no count.
    return { promptTokens: tokens(asCount(answer['prompt_eval_count']) ?? 0), outputTokens: tokens(output) };
  },
};
